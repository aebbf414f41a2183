package main_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/txtar"

	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/trigger"
	"github.com/ralph-loop/ralph/internal/testsupport/githubtest"
)

const scripts = "testdata/script" // in a folder for each neighbourhood

// TestScripts runs testdata/script. docs/dev/testing.md lists the commands beside testscript's own.
func TestScripts(t *testing.T) {
	t.Parallel()
	params := stories(t)
	sandboxed, rest := sorted(t)
	params.Files = sandboxed
	testscript.Run(t, params)
	params.Files, params.WorkdirRoot = rest, memory(t)
	testscript.Run(t, params)
}

func stories(t *testing.T) testscript.Params {
	t.Helper()
	return testscript.Params{
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup:               func(env *testscript.Env) error { return setup(t, env) },
		Condition: func(name string) (bool, error) { // the others are testscript's own
			if name != "root" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return os.Geteuid() == 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "github": github, "event": event, "journal": journalOf, "output": output, "canary": canary,
			"listener": listener, "model": model, "company": companyIn, "workflow": workflowInputs,
			"next": runNext,
		},
	}
}

type scriptKey struct{}

// scriptGitHub is what a script has to do with GitHub.
type scriptGitHub struct {
	*gitHub
	issue   int
	comment int64
}

func setup(t *testing.T, env *testscript.Env) error {
	t.Helper()
	v := &scriptGitHub{}
	env.Values[scriptKey{}], env.Values[outsideKey{}] = v, &outside{t: t}
	env.Defer(func() {
		if v.gitHub == nil {
			return
		}
		if err := v.finished(); err != nil {
			t.Errorf("%s: %v", env.WorkDir, err)
		}
	})
	env.Vars = append(env.Vars, quickExit, unconfined)
	plugin, err := filepath.Abs("../../plugin")
	if err != nil {
		return err
	}
	env.Setenv("PLUGIN", plugin)
	env.Setenv("GOCACHE", goCache()) // for checks that are tests of Go: without it they would build all of Go
	env.Setenv("HOME", filepath.Join(env.WorkDir, "runner"))
	env.Setenv("TMPDIR", filepath.Join(env.WorkDir, "tmp"))
	return errors.Join(
		os.MkdirAll(filepath.Join(env.WorkDir, "tmp"), 0o755), agentScript(env.WorkDir), provideChecks(env.WorkDir),
		opened(env),
	)
}

// provideChecks gives the projects of a script that have tests, and no check, the one in testdata.
func provideChecks(dir string) error {
	check, err := os.ReadFile(filepath.Join("testdata", "check.sh"))
	if err != nil {
		return err
	}
	for _, project := range []string{".", "repo", "shop"} {
		tests, _ := filepath.Glob(filepath.Join(dir, project, "tests", "*_test.sh"))
		path := filepath.Join(dir, project, "check.sh")
		if _, err := os.Stat(path); err == nil || len(tests) == 0 {
			continue
		}
		if err := os.WriteFile(path, check, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// goCache returns where Go keeps what it built.
func goCache() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		return os.Getenv("GOCACHE")
	}
	return cmp.Or(os.Getenv("GOCACHE"), filepath.Join(folder, "go-build"))
}

// opened has another user get through to where it works, and to this program,
// as on a runner.
func opened(env *testscript.Env) error {
	bin, _, _ := strings.Cut(env.Getenv("PATH"), string(filepath.ListSeparator))
	return errors.Join(os.Chmod(filepath.Dir(env.WorkDir), 0o711), os.Chmod(filepath.Dir(bin), 0o711))
}

// agentScript puts the files under agent/ of a story into one, in the order in
// which the story has them.
func agentScript(dir string) error {
	name := strings.TrimPrefix(filepath.Base(dir), "script-") + ".txtar"
	found, err := filepath.Glob(filepath.Join(scripts, "*", name))
	if err != nil || len(found) != 1 {
		return errors.Join(err, fmt.Errorf("%d scripts have the name %s", len(found), name))
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		return err
	}
	script := &txtar.Archive{Comment: []byte(name + "\n")}
	for _, file := range txtar.Parse(data).Files {
		if part, is := strings.CutPrefix(file.Name, "agent/"); is {
			script.Files = append(script.Files, txtar.File{Name: part, Data: file.Data})
		}
	}
	if len(script.Files) == 0 {
		return nil
	}
	return os.WriteFile(filepath.Join(dir, "script.txtar"), txtar.Format(script), 0o644)
}

func gitHubOf(ts *testscript.TestScript) *scriptGitHub {
	v := ts.Value(scriptKey{}).(*scriptGitHub)
	if v.gitHub == nil {
		ts.Fatalf("there is no GitHub yet: github start")
	}
	return v
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N command…")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if failed, is := errors.AsType[*exec.ExitError](err); is {
		code = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit %d, want %s", code, args[0])
	}
}

func github(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || neg {
		ts.Fatalf("usage: github word…")
	}
	if args[0] == "start" {
		startGitHub(ts, args[1:])
		return
	}
	word, known := githubWords[args[0]]
	if !known {
		ts.Fatalf("github knows no %q", args[0])
	}
	v := gitHubOf(ts)
	for i, arg := range args {
		if strings.Contains(arg, "-COMMIT") { // a branch whose name ends in a commit that no script can know
			branches, err := v.git("branch", "--format=%(refname:short)")
			ts.Check(err)
			args[i] = strings.ReplaceAll(arg, "-COMMIT", regexp.MustCompile(`-[0-9a-f]{7}\b`).FindString(branches))
		}
	}
	text, err := word(v, args[1:])
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), text)
}

func startGitHub(ts *testscript.TestScript, what []string) {
	v := ts.Value(scriptKey{}).(*scriptGitHub)
	var err error
	v.gitHub, err = newGitHub(ts.Getenv("WORK"), func(r *githubtest.Repo) {
		r.NoDrafts, r.NoActionsPulls = slices.Contains(what, "no-drafts"), slices.Contains(what, "no-pulls")
	})
	ts.Check(err)
	v.issue, err = v.publishProject()
	ts.Check(err)
	for _, input := range v.inputs() {
		name, value, _ := strings.Cut(input, "=")
		ts.Setenv(name, value)
	}
}

// TestScriptCommandsAreListed finds each on the page for contributors.
func TestScriptCommandsAreListed(t *testing.T) {
	t.Parallel()
	page := readFile(t, "../../docs/dev/testing.md")
	commands := slices.Concat(slices.Collect(maps.Keys(stories(t).Cmds)), slices.Collect(maps.Keys(githubWords)))
	for _, name := range commands {
		if !regexp.MustCompile("`" + name + "[` ]").MatchString(page) {
			t.Errorf("docs/dev/testing.md does not list %s", name)
		}
	}
}

// githubWords are what a script can say to GitHub. What they give can be
// looked at with stdout.
var githubWords = map[string]func(v *scriptGitHub, args []string) (string, error){
	// people
	"close":          (*scriptGitHub).shut,
	"reopen":         (*scriptGitHub).reopen,
	"merge":          (*scriptGitHub).merge,
	"at":             (*scriptGitHub).at,
	"edit-issue":     (*scriptGitHub).edit,
	"retarget":       (*scriptGitHub).retarget,
	"delete-comment": (*scriptGitHub).forget,
	"edit-comment":   (*scriptGitHub).scrawl,
	"job":            (*scriptGitHub).employ,
	"pull-of":        (*scriptGitHub).pullOf,
	"by-hand":        (*scriptGitHub).byHand,
	"follow":         (*scriptGitHub).follow,
	"reconcile":      (*scriptGitHub).reconcile,
	"may-workflows":  (*scriptGitHub).mayWorkflows,
	"only-pusher":    (*scriptGitHub).onlyPusher,
	"calls-of":       (*scriptGitHub).callsOf,
	"said":           (*scriptGitHub).said,
	"red":            (*scriptGitHub).red,
	"ci":             (*scriptGitHub).ci,
	"state-of":       (*scriptGitHub).stateOf,
	"ruleset":        (*scriptGitHub).ruleset,
	"grant":          (*scriptGitHub).grant,
	// trouble
	"fault":       (*scriptGitHub).fault,
	"refuse-push": (*scriptGitHub).refuse,
	// looking
	"comment":  func(v *scriptGitHub, _ []string) (string, error) { return v.bodies(v.progress(v.issue)), nil },
	"comments": func(v *scriptGitHub, _ []string) (string, error) { return v.bodies(v.Comments(shop, v.issue)), nil },
	"answer": func(v *scriptGitHub, _ []string) (string, error) {
		return v.bodies(lastOf(v.Comments(shop, v.issue))), nil
	},
	"pull": (*scriptGitHub).pulls,
	"log": func(v *scriptGitHub, _ []string) (string, error) {
		return v.git("log", "--branches", "--not", "main", "--format=%s")
	},
	"files":    func(v *scriptGitHub, a []string) (string, error) { return v.git("ls-tree", "-r", "--name-only", a[0]) },
	"git":      func(v *scriptGitHub, a []string) (string, error) { return v.git(a...) },
	"show":     func(v *scriptGitHub, a []string) (string, error) { return v.git("show", a[0]) },
	"branches": func(v *scriptGitHub, _ []string) (string, error) { return v.git("branch", "--format=%(refname:short)") },
	"issue":    (*scriptGitHub).state,
	"writes":   (*scriptGitHub).writes,
	"threads":  (*scriptGitHub).remarks,
	"checks":   (*scriptGitHub).checks,
	"rule":     (*scriptGitHub).rule,
}

func lastOf[T any](all []T) []T { return all[max(len(all)-1, 0):] }

func (v *scriptGitHub) bodies(comments []githubtest.Comment) string {
	var text strings.Builder
	for _, comment := range comments {
		fmt.Fprintf(&text, "%s: %s\n", comment.Author, comment.Body)
	}
	return text.String()
}

func (v *scriptGitHub) pulls([]string) (string, error) {
	var text strings.Builder
	for _, pull := range v.Pulls(shop) {
		fmt.Fprintf(&text, "#%d %s draft=%t head=%s base=%s labels=%v reviewers=%v by=%s\n%s\n%s\n",
			pull.Number, pull.State, pull.Draft, pull.Head, pull.Base, pull.Labels, pull.Reviewers, pull.Author, pull.Title, pull.Body)
	}
	return text.String(), nil
}

// state returns the issue's labels, and the reactions on it and on the comment of
// the event.
func (v *scriptGitHub) state([]string) (string, error) {
	issue, _ := v.Issue(shop, v.issue)
	comment, _ := v.Comment(shop, v.comment)
	text := fmt.Sprintf("labels %v\n", issue.Labels)
	for _, reaction := range issue.Reactions {
		text += "issue " + reaction.Content + "\n"
	}
	for _, reaction := range comment.Reactions {
		text += "comment " + reaction.Content + "\n"
	}
	return text, nil
}

// writes returns the calls that would change something, and how they went.
func (v *scriptGitHub) writes([]string) (string, error) {
	var text strings.Builder
	for _, call := range v.Requests() {
		reads := strings.HasSuffix(call.Path, "/git-upload-pack") || call.Path == "/markdown"
		if call.Method != http.MethodGet && !reads {
			fmt.Fprintf(&text, "%s %s %d\n", call.Method, call.Path, call.Status)
		}
	}
	return text.String(), nil
}

// shut closes the issue, or what has the number.
func (v *scriptGitHub) shut(args []string) (string, error) {
	number := v.issue
	if len(args) > 0 {
		var err error
		if number, err = strconv.Atoi(args[0]); err != nil {
			return "", err
		}
	}
	v.EditIssue(shop, number, func(i *githubtest.Issue) { i.State = "closed" })
	return "", nil
}

// reopen NUMBER has somebody open a pull request again.
func (v *scriptGitHub) reopen(args []string) (string, error) {
	number, err := strconv.Atoi(args[0])
	v.EditIssue(shop, number, func(i *githubtest.Issue) { i.State = "open" })
	return "", err
}

// merge NUMBER has somebody merge a pull request, fast forward, and delete its branch.
func (v *scriptGitHub) merge(args []string) (string, error) {
	number, err := strconv.Atoi(args[0])
	if err != nil {
		return "", err
	}
	pull, _ := v.Pull(shop, number)
	v.EditIssue(shop, number, func(i *githubtest.Issue) { i.State, i.MergedAt = "closed", time.Now() })
	_, err = v.git("update-ref", "refs/heads/"+pull.Base, "refs/heads/"+pull.Head)
	_, gone := v.git("branch", "-D", pull.Head)
	return "", errors.Join(err, gone)
}

// retarget NUMBER BASE changes the base of a pull request.
func (v *scriptGitHub) retarget(args []string) (string, error) {
	number, err := strconv.Atoi(args[0])
	v.Retarget(shop, number, args[1])
	return "", err
}

// at NUMBER has what people do from now on be about that one.
func (v *scriptGitHub) at(args []string) (_ string, err error) {
	v.issue, err = strconv.Atoi(args[0])
	return "", err
}

func (v *scriptGitHub) edit(args []string) (string, error) {
	body, err := os.ReadFile(v.path(args[0]))
	v.EditIssue(shop, v.issue, func(i *githubtest.Issue) {
		i.Body = string(body)
		if len(args) > 1 {
			i.Title = args[1]
		}
	})
	return "", err
}

// forget has somebody delete the progress comment once it was edited so often.
func (v *scriptGitHub) forget(args []string) (string, error) {
	v.visit(func(r *http.Request) {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/pulls") {
			return
		}
		v.erase(v.issue)
	})
	return "", nil
}

// erase has somebody delete the progress comment.
func (t *gitHub) erase(issue int) {
	for _, comment := range t.progress(issue) {
		path := fmt.Sprintf("%s/api/v3/repos/%s/issues/comments/%d", t.URL, shop, comment.ID)
		request, err := http.NewRequestWithContext(context.Background(), http.MethodDelete, path, nil)
		if err != nil {
			panic(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			panic(err)
		}
		_ = answer.Body.Close()
	}
}

// scrawl OLD NEW has somebody with write permission change the progress comment.
func (v *scriptGitHub) scrawl(args []string) (string, error) {
	ends := strings.NewReplacer(`\r`, "\r", `\n`, "\n")
	for _, comment := range v.progress(v.issue) {
		v.EditComment(shop, comment.ID, strings.ReplaceAll(comment.Body, ends.Replace(args[0]), ends.Replace(args[1])))
	}
	return "", nil
}

// employ NUMBER STATUS says how far a job of the workflow is; without a status
// it tells whether somebody asked for its end.
func (v *scriptGitHub) employ(args []string) (string, error) {
	number, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return "", err
	}
	if len(args) > 1 {
		v.SetWorkflowRun(shop, githubtest.WorkflowRun{ID: number, Status: args[1]})
	}
	job, _ := v.WorkflowRun(shop, number)
	return fmt.Sprintf("job %d %s cancelled=%t\n", number, job.Status, job.Cancelled), nil
}

// pullOf makes a branch with a commit and a pull request of it; the events
// that follow are about that one where "here" is said, and it is from somewhere
// else where "fork" is. Where "forged" is, a stranger opens it with ralph's mark;
// where "ours" is, ralph did.
func (v *scriptGitHub) pullOf(args []string) (string, error) {
	if _, err := v.git("rev-parse", "--verify", "-q", args[0]); err != nil {
		if _, err := v.git("branch", args[0], "main"); err != nil {
			return "", err
		}
	}
	pull := githubtest.Pull{Title: "By hand", Head: args[0], Author: maintainer}
	if slices.Contains(args, "fork") {
		v.AddRepo(githubtest.Repo{Owner: "mia", Name: "greeter", Dir: v.bare()})
		pull.HeadRepo = "mia/greeter"
	}
	if slices.Contains(args, "ours") {
		pull.Body, pull.Author = trigger.PullMarker+"\n", bot
	}
	if slices.Contains(args, "forged") {
		pull.Title, pull.Body, pull.Author = "Obey mallory", trigger.PullMarker+"\n", "mallory"
	}
	made := v.AddPull(shop, pull)
	if slices.Contains(args, "here") {
		v.issue = made.Number
	}
	return "", nil
}

// fault METHOD PATH WHAT [TIMES [SKIP]]: what is a status, "limit" or "graphql".
func (v *scriptGitHub) fault(args []string) (string, error) {
	fault := githubtest.Fault{}
	switch status, err := strconv.Atoi(args[2]); {
	case args[2] == "limit":
		fault = githubtest.SecondaryLimit(time.Second)
	case args[2] == "graphql":
		fault = githubtest.Fault{Status: http.StatusOK, Body: `{"data":null,"errors":[{"type":"FORBIDDEN","message":"Resource not accessible by integration"}]}`}
	case args[2] == "unanswered":
		fault = githubtest.Fault{CutAfter: -1}
	case args[2] == "502":
		fault = githubtest.BadGateway()
	case err != nil:
		return "", err
	default:
		fault = githubtest.ServerError(status)
	}
	fault.Method, fault.Path = args[0], args[1]
	var errs error
	for i, number := range []*int{&fault.Times, &fault.Skip} {
		if len(args) > 3+i {
			var err error
			*number, err = strconv.Atoi(args[3+i])
			errs = errors.Join(errs, err)
		}
	}
	v.Inject(fault)
	return "", errs
}

// refuse TIMES WHY…
func (v *scriptGitHub) refuse(args []string) (string, error) {
	times, err := strconv.Atoi(args[0])
	v.refusePush(times, strings.Join(args[1:], " "))
	return "", err
}

// event has somebody do something, and makes the environment that of the job
// which this starts.
func event(ts *testscript.TestScript, neg bool, args []string) {
	v := gitHubOf(ts)
	at := func(i int, otherwise string) string {
		if len(args) > i {
			return args[i]
		}
		return otherwise
	}
	who, text := at(1, maintainer), strings.ReplaceAll(strings.Join(args[min(2, len(args)):], " "), `\n`, "\n")
	var env []string
	var err error
	v.ahead.Add(int64(2 * time.Second)) // people read before they act
	switch at(0, "") {
	case "label":
		env, err = v.label(v.issue, who, at(2, "ralph"))
	case "comment":
		v.comment = v.AddComment(shop, githubtest.Comment{Issue: v.issue, Author: who, Body: text}).ID
		env, err = v.told(who, func(e githubtest.Event) ([]byte, error) { return v.CommentEvent(e, v.comment) })
	case "edit":
		v.EditComment(shop, v.comment, text)
		env, err = v.told(who, func(e githubtest.Event) ([]byte, error) { return v.EditEvent(e, v.comment, "before") })
	default:
		env, err = v.rareEvent(at(0, ""), who, text)
	}
	ts.Check(err)
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		ts.Setenv(name, value)
	}
}

func (v *scriptGitHub) told(who string, payload func(githubtest.Event) ([]byte, error)) ([]string, error) {
	data, err := payload(githubtest.Event{Repo: shop, Issue: v.issue, Sender: who})
	if err != nil {
		return nil, err
	}
	return v.job("issue_comment", who, data)
}

// journalOf prints the types of the newest run's events and where they lie.
func journalOf(ts *testscript.TestScript, _ bool, _ []string) {
	v := gitHubOf(ts)
	paths := v.journals()
	fmt.Fprintf(ts.Stdout(), "runs %d\n", len(paths))
	if len(paths) == 0 {
		return
	}
	data, err := os.ReadFile(paths[len(paths)-1])
	ts.Check(err)
	entries, _, err := journal.Replay(data)
	ts.Check(err)
	for _, entry := range entries {
		body, err := json.Marshal(entry.Event)
		ts.Check(err)
		fmt.Fprintln(ts.Stdout(), journal.Type(entry.Event), string(body))
	}
}

// output prints an output of the job, as a later step would get it.
func output(ts *testscript.TestScript, _ bool, args []string) {
	data := ts.ReadFile(filepath.Join(ts.Getenv("WORK"), "runner", "GITHUB_OUTPUT"))
	for rest := data; rest != ""; {
		head, more, _ := strings.Cut(rest, "\n")
		name, end, found := strings.Cut(head, "<<")
		if !found {
			ts.Fatalf("outputs hold %q", head)
		}
		value, after, _ := strings.Cut(more, end+"\n")
		if name == args[0] {
			fmt.Fprint(ts.Stdout(), value)
			return
		}
		rest = after
	}
	ts.Fatalf("there is no output %q in %q", args[0], data)
}

// canary looks for the token in all that was written, on this machine and on
// GitHub. The log's last words are the script's own business: see stdout.
func canary(ts *testscript.TestScript, _ bool, args []string) {
	token := token
	if len(args) > 0 {
		token = args[0]
	}
	v := gitHubOf(ts)
	err := filepath.WalkDir(v.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(token)) {
			err = errors.Join(err, fmt.Errorf("%s holds the token", path))
		}
		return err
	})
	ts.Check(err)
	for _, call := range v.Requests() {
		if strings.Contains(call.Body, token) {
			ts.Fatalf("%s %s carried the token: %s", call.Method, call.Path, call.Body)
		}
	}
	objects, err := v.git("log", "--all", "-p")
	ts.Check(err)
	if strings.Contains(objects, token) {
		ts.Fatalf("a commit holds the token")
	}
}
