// Package git runs the system's git, hardened: no configuration of the user or
// the agent starts a program, git asks no questions, and every call ends. It
// reads and writes the program's own repositories, the agent's tree and the
// user's repository. It keeps no policy.
//
// These hold even in a hostile tree: no hook, file system monitor, filter,
// pager, editor, helper or transport of its configuration runs, every call
// ends, and every output is bounded. Only a sandbox around Run protects from
// bugs in git itself, and from includes and links that name files outside the
// tree.
package git

import (
	"context"
	"fmt"
	"strconv"

	"github.com/ralph-loop/ralph/internal/fault"
	"github.com/ralph-loop/ralph/internal/pattern"
	"github.com/ralph-loop/ralph/internal/process"
)

// Run runs a command to its end. A sandbox is a Run around another.
type Run = func(context.Context, process.Command) (process.Result, error)

// Git is the system's git.
type Git struct {
	Run   Run
	Path  string // the PATH in which git and what it starts are found
	Home  string // an empty folder of the program's own
	Proxy string // for remotes over http; empty: none
	CA    string // a file of certificates to trust besides; empty: the system's
	User  Person // whose repositories Inspect and Own look at
}

var versionIn = pattern.Of(`^git version (\d+)\.(\d+)(\S*)`)

// Version is git's own, or a fault when there is none that will do.
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
		return "", fault.Usage("git does not say its version", "install git 2.38 or later", nil)
	}
	version := fmt.Sprintf("%s.%s%s", m[1], m[2], m[3])
	major, minor := number(m[1]), number(m[2])
	if major < 2 || major == 2 && minor < 38 {
		return version, fault.Usage("git "+version+" is too old", "install git 2.38 or later", nil)
	}
	return version, nil
}

func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0 // too many digits for a version
	}
	return n
}

// Setting is a line of configuration. It goes by the environment: it holds
// over every file, keys may hold any character, and it may be a secret.
type Setting struct{ Key, Value string }

// settings hold in every call. Values that would start something are set to
// what starts nothing; some of them cannot be: an empty diff.external is run.
// Those are turned off by flags where they count.
var settings = []Setting{
	{"safe.directory", "*"}, // the owner of a folder decides nothing here, the settings below do
	{"core.hooksPath", "/dev/null"},
	{"core.fsmonitor", "false"},
	{"core.untrackedCache", "false"},
	{"core.commitGraph", "false"}, // it says what commits hold, and need not be true
	{"core.pager", "cat"},
	{"core.editor", "false"},
	{"core.sshCommand", "false"},
	{"core.askPass", ""},
	{"core.attributesFile", "/dev/null"},
	{"core.excludesFile", "/dev/null"},
	{"core.autocrlf", "false"},
	{"core.protectHFS", "true"},
	{"core.protectNTFS", "true"},
	{"credential.helper", ""},
	{"commit.gpgSign", "false"},
	{"push.gpgSign", "false"},
	{"log.showSignature", "false"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"rerere.enabled", "false"},
	{"submodule.recurse", "false"},
	{"fetch.recurseSubmodules", "false"},
	{"push.recurseSubmodules", "no"},
	{"diff.ignoreSubmodules", "all"},
	{"transfer.fsckObjects", "true"},
	{"transfer.credentialsInUrl", "die"},
	{"protocol.version", "2"},
	{"http.followRedirects", "false"}, // else a token may follow
	{"http.extraHeader", ""},
	{"http.lowSpeedLimit", "1000"},
	{"http.lowSpeedTime", "60"},
	{"init.defaultBranch", "main"},
	{"advice.detachedHead", "false"},
}

func (g Git) environment(c Call) []string {
	env := []string{
		"PATH=" + g.Path,
		"HOME=" + g.Home,
		"LC_ALL=C",
		"TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_GRAFT_FILE=/dev/null/none", // else info/grafts says what a commit's parents are
		"GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=", // set and empty: git asks no program, and ignores SSH_ASKPASS
		"GIT_SSH_COMMAND=false",
		"GIT_EDITOR=false",
		"GIT_SEQUENCE_EDITOR=false",
		"GIT_PAGER=cat",
		"GIT_PROTOCOL_FROM_USER=0",
		"GIT_ALLOW_PROTOCOL=none", // holds over any protocol.*.allow; a call with a remote names its own
	}
	env = append(env, c.Env...)
	set := append(append([]Setting{}, settings...), c.Set...)
	for i, s := range set {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s.Key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s.Value))
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(set)))
}
