package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-loop/ralph/internal/untrusted"
)

// base are the variables that a program needs to find its tools, its files and
// its language. All else is for somebody: it is given by name or not at all.
var base = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ",
	"LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES",
}

// ways are how a machine behind a company's proxy reaches the world, in both
// the cases that programs look for. A proxy's name may hold a password: it is
// for the user's own machine, where it is the user's own.
var ways = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"NODE_EXTRA_CA_CERTS", "NODE_USE_ENV_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// around are the variables of a session or a command that ralph was started in:
// of another tree than the agent's, or taken by an agent for a session of its own.
var around = split(`
	CLAUDECODE CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_SSE_PORT
	GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_COMMON_DIR GIT_PREFIX GIT_NAMESPACE
`)

// LocalEnv is what an agent starts from on the user's own machine, where no sandbox
// stands: the user's environment without what is known to be secret, by its name
// or by its value, but with what is named in extra.
func LocalEnv(environ []string, extra ...string) []string {
	return only(environ, slices.Concat(ways, extra), func(name string) bool {
		return isPlain(name) || !slices.Contains(around, name) && !calledSecret(strings.ToUpper(name))
	})
}

// never are the beginnings of names that belong to the job and not to the
// work in it: with them an agent could speak for the job.
var never = []string{"GITHUB_", "ACTIONS_", "INPUT_", "RUNNER_", "STATE_"}

// BaseEnv is the environment that an agent starts from in a job: what getenv has of the
// allow-list and of the names in extra. Runner variables and anything that
// ends in _TOKEN stay out, even when extra names them.
func BaseEnv(getenv func(string) string, extra ...string) []string {
	var env []string
	for _, name := range slices.Concat(base, extra) {
		if value := getenv(name); value != "" && !forbidden(name) {
			env = append(env, name+"="+value)
		}
	}
	return merge(env)
}

func forbidden(name string) bool {
	name = strings.ToUpper(name)
	return strings.HasSuffix(name, "_TOKEN") ||
		slices.ContainsFunc(never, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// secret are the ends of names that people give to what nobody may see.
var secret = []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIALS", "API_KEY", "ACCESS_KEY", "ACCESS_KEY_ID", "PRIVATE_KEY"}

// Harmless is a person's environment without what is known to be secret: checks
// run with it, and what they run was written by an agent.
func Harmless(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		name = strings.ToUpper(name)
		return forbidden(name) || slices.Contains(around, name) || slices.ContainsFunc(secret, func(end string) bool { return strings.HasSuffix(name, end) })
	})
}

// env tells every agent where it stands.
func (o Order) env() []string {
	return given(
		"RALPH_ITERATION", strconv.Itoa(o.Iteration),
		"RALPH_MAX_ITERATIONS", strconv.Itoa(o.Max),
		"RALPH_STORY", o.Story,
	)
}

// given makes variables of pairs of name and value, leaving out empty values:
// to many a program an empty key is a key.
func given(pairs ...string) []string {
	var env []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			env = append(env, pairs[i]+"="+pairs[i+1])
		}
	}
	return env
}

// merge joins environments; where two name a variable, the later one has it.
func merge(envs ...[]string) []string {
	var merged []string
	at := map[string]int{}
	for _, variable := range slices.Concat(envs...) {
		name, _, _ := strings.Cut(variable, "=")
		if i, standing := at[name]; standing {
			merged[i] = variable
			continue
		}
		at[name] = len(merged)
		merged = append(merged, variable)
	}
	return merged
}

// Lookup is what env says of a variable, where it says it last.
func Lookup(env []string, name string) string {
	for _, variable := range slices.Backward(env) {
		if key, value, _ := strings.Cut(variable, "="); key == name {
			return value
		}
	}
	return ""
}

// within are names in a folder.
func within(folder string, names ...string) []string {
	var paths []string
	for _, name := range names {
		paths = append(paths, folder+"/"+name)
	}
	return paths
}

// furnish makes the home that the adapter's program is given, under the folder
// for temporary files that the program has too, and tells the order where it
// is. Leaving takes all of it away, with what the program left there. It does
// nothing for a program that has the user's own home.
func (h *Hand) furnish(ctx context.Context, o *Order) (leave func() error, err error) {
	if len(h.Adapter.Home) == 0 {
		return func() error { return nil }, nil
	}
	home, err := os.MkdirTemp(Lookup(h.Env, "TMPDIR"), "ralph-home-")
	if err != nil {
		return nil, err
	}
	leave = func() error { return untrusted.RemoveAll(home) }
	for name, text := range h.Adapter.Home {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), untrusted.WriteFile(path, []byte(text), 0o600)); err != nil {
			return nil, errors.Join(err, leave())
		}
	}
	if h.Lend != nil {
		if err := h.Lend(ctx, home); err != nil {
			return nil, errors.Join(err, leave())
		}
	}
	o.Home = home
	return leave, nil
}
