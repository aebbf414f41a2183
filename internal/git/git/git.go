// Package git runs the system's git: it asks no questions, every call ends, and every output is bounded. It
// reads and writes the program's own repositories, the agent's tree and the user's repository. It keeps no policy.
//
// In the user's repository git has the user's own settings and filters, and runs no hook. No setting or hook of an
// agent's clone reaches git, so nothing that it names runs: git works there with a common folder of ralph's own (type
// repository). Only a sandbox around Run protects from bugs in git itself, and from links that name files outside of
// the tree.
package git

import (
	"context"
	"fmt"
	"strconv"

	"github.com/ralph-loop/ralph/internal/lib/fault"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
	"github.com/ralph-loop/ralph/internal/lib/process"
)

// Run runs a command to its end. A sandbox wraps a Run.
type Run = func(context.Context, process.Command) (process.Result, error)

// Git is the system's git.
type Git struct {
	Run   Run
	Path  string // PATH of git and the programs that it starts
	Home  string // an empty folder of ralph's own
	Proxy string // for remotes over http; empty: none
	CA    string // a file of additional trusted certificates; empty: none

	// User is the environment by which git finds the settings of the user, for repositories that Inspect and Own open.
	User []string
}

var versionIn = pattern.Of(`^git version (\d+)\.(\d+)(\S*)`)

// Version returns git's version, or a fault if git is missing or too old.
func (g Git) Version(ctx context.Context) (string, error) {
	out, err := g.Do(ctx, Call{Args: []string{"version"}})
	switch {
	case ctx.Err() != nil:
		return "", err
	case err != nil:
		return "", fault.Usage("git cannot be run", "install git 2.38 or later and see that it is on PATH", err)
	}
	m := versionIn.FindStringSubmatch(string(out))
	if m == nil {
		return "", fault.Usage("git does not print its version", "install git 2.38 or later", nil)
	}
	version := fmt.Sprintf("%s.%s%s", m[1], m[2], m[3])
	major, _ := strconv.Atoi(m[1]) // too many digits count as many
	minor, _ := strconv.Atoi(m[2])
	if major < 2 || (major == 2 && minor < 38) {
		return version, fault.Usage("git "+version+" is too old", "install git 2.38 or later", nil)
	}
	return version, nil
}

// Setting is a configuration setting. It is passed in the environment: it
// overrides every file, keys may have any character, and it may be a secret.
type Setting struct{ Key, Value string }

// settings hold in every call. git sees no others but those of the user's and of ralph's own repositories.
var settings = []Setting{
	{"safe.directory", "*"},
	{"core.hooksPath", "/dev/null"},
	{"core.fsmonitor", "false"},           // git ls-files sees a nested repository's settings
	{"core.alternateRefsCommand", "true"}, // by default, a fetch starts a git in each alternate repository
	{"core.untrackedCache", "false"},      // what others wrote there can hide files
	{"core.commitGraph", "false"},         // it can contradict the commits
	{"core.protectHFS", "true"},
	{"core.protectNTFS", "true"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"submodule.recurse", "false"},
	{"fetch.recurseSubmodules", "false"},
	{"fetch.prune", "false"},
	{"fetch.pruneTags", "false"},
	{"i18n.commitEncoding", "UTF-8"},
	{"diff.ignoreSubmodules", "all"},
	{"transfer.fsckObjects", "true"},
	{"transfer.credentialsInUrl", "die"},
	{"http.followRedirects", "false"}, // a redirect could get a token
	{"http.lowSpeedLimit", "1000"},
	{"http.lowSpeedTime", "60"},
	{"init.defaultBranch", "main"},
	{"advice.detachedHead", "false"},
}

func (g Git) environment(c Call) []string {
	env := []string{
		"PATH=" + g.Path,
		"LC_ALL=C",
		"TZ=UTC",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_GRAFT_FILE=/dev/null/none", // info/grafts could replace a commit's parents
		"GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=", // set and empty: git asks no program, and ignores SSH_ASKPASS
		"GIT_SSH_COMMAND=false",
		"GIT_EDITOR=false",
		"GIT_SEQUENCE_EDITOR=false",
		"GIT_PAGER=cat",
		"GIT_PROTOCOL_FROM_USER=0",
		"GIT_ALLOW_PROTOCOL=none", // overrides protocol.*.allow; a call with a remote sets its own
	}
	if c.asUser && g.User != nil {
		env = append(env, g.User...)
	} else {
		env = append(env, "HOME="+g.Home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1")
	}
	if c.Memory > 0 { // the kernel's limit comes into force a moment after the start
		env = append(env, fmt.Sprint("GIT_ALLOC_LIMIT=", c.Memory))
	}
	env = append(env, c.Env...)
	set := append(append([]Setting{}, settings...), c.Set...)
	for i, s := range set {
		env = append(env,
			fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s.Key),
			fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s.Value))
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(set)))
}
