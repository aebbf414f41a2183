package agent_test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ralph-loop/ralph/internal/agent/agent"
	"github.com/ralph-loop/ralph/internal/box/egress"
	"github.com/ralph-loop/ralph/internal/core/journal"
	"github.com/ralph-loop/ralph/internal/core/price"
	"github.com/ralph-loop/ralph/internal/testsupport/agenttest"
	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// The tests whose names begin with TestReal start the real CLIs, as npm puts
// them into tools/agents, against a model server on loopback. They take minutes
// and gigabytes, so they do nothing until AGENTS is set, as `make agents` does.

// realKey is what only the server must get.
const realKey = "sk-a-key-of-the-real-tests-7c1f"

// patience is how long a test waits for what it knows must come.
const patience = 60 * time.Second

// cli is a real program, and with what its adapter is asked.
type cli struct {
	*testing.T
	agent   string
	model   string
	keys    agent.Keys
	env     []string // what makes it try less often than a minute takes
	args    []string // the same
	mute    bool     // that it asks again after an error of the server's own, it does not say
	calls   string   // the model as the server knows it, where that is another name
	rate    bool     // its price is the user's own
	brittle bool     // an answer that is cut ends it
	twin    bool     // the same program is here by another name
	reads   bool     // it is asked to read and not to write
	acp     bool     // it speaks the Agent Client Protocol: ralph's model server counts it, and sees what went wrong
	chatty  bool     // it asks more than it was asked to
}

var clis = map[string]cli{
	"claude": {
		agent: "claude", model: "claude-sonnet-4-6", keys: agent.Keys{AnthropicAPIKey: realKey},
		env: []string{"CLAUDE_CODE_MAX_RETRIES=2"},
	},
	// Its newest models run commands by a script in a language of their own.
	"codex": codexCLI("gpt-6-sol"),
	// A model that it does not know gets plain tools.
	"codex-plain": codexTwin("gpt-5-codex"),
	"gemini": {
		agent: "gemini", model: "gemini-2.5-pro", keys: agent.Keys{GeminiAPIKey: realKey}, acp: true, rate: true,
		brittle: true,
	},
	"opencode": {
		agent: "opencode", model: "anthropic/claude-sonnet-4-5", calls: "claude-sonnet-4-5", keys: agent.Keys{AnthropicAPIKey: realKey},
		acp: true, chatty: true,
	},
	// A provider that it does not know is spoken to as OpenAI once was.
	"opencode-other": {
		agent: "opencode", model: "gpt-6-sol", keys: agent.Keys{OpenAIAPIKey: realKey}, acp: true, chatty: true, twin: true,
	},
	"copilot": {agent: "copilot", model: "gpt-5.1", keys: agent.Keys{ProviderAPIKey: realKey}, acp: true},
	"qwen": {
		agent: "qwen", model: "qwen3-coder-plus", keys: agent.Keys{ProviderAPIKey: realKey}, acp: true, rate: true, chatty: true,
	},
}

func codexCLI(model string) cli {
	keys := agent.Keys{OpenAIAPIKey: realKey}
	return cli{
		agent: "codex", model: model, keys: keys, mute: true,
		args: []string{"-c", "model_providers.ralph.request_max_retries=1", "-c", "model_providers.ralph.stream_max_retries=2"},
	}
}

func codexTwin(model string) cli {
	c := codexCLI(model)
	c.twin = true
	return c
}

// eachCLI runs a test with every real program.
func eachCLI(t *testing.T, test func(c cli)) {
	t.Helper()
	if os.Getenv("AGENTS") == "" {
		return
	}
	for name, c := range clis {
		t.Run(name, func(t *testing.T) {
			c.T = t
			test(c)
		})
	}
}

// eachProgram does so once for each of them.
func eachProgram(t *testing.T, test func(c cli)) {
	t.Helper()
	eachCLI(t, func(c cli) {
		if !c.twin {
			test(c)
		}
	})
}

// path returns where npm put the program.
func (c cli) path() string {
	c.Helper()
	path, err := filepath.Abs("../../../tools/agents/node_modules/.bin/" + c.agent)
	if err != nil {
		c.Fatal(err)
	}
	return path
}

// version returns what the program says it is.
func (c cli) version() string {
	c.Helper()
	cmd := exec.CommandContext(c.Context(), c.path(), "--version")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.TempDir()}
	out, err := cmd.Output()
	if err != nil {
		c.Fatalf("%s: %v", cmd, err)
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return version
}

// bench is a stand with a real program on it, and the server that it asks.
type bench struct {
	*agenttest.Stand
	cli
	server *modeltest.Server
	models *egress.Model // between the two; nil: there is none
	order  agent.Order
}

func (c cli) bench(answers ...modeltest.Answer) *bench {
	c.Helper()
	b := &bench{cli: c, server: modeltest.Start(c.T, answers...)}
	o := agent.Options{Command: "'" + c.path() + "'", Args: c.args, Keys: c.keys, NeedKey: true, ReadOnly: c.reads}
	o.Keys.ModelBaseURL = b.server.URL
	if c.rate {
		o.Prices = map[string]price.Rate{c.model: {Input: 1, Output: 10, CacheRead: 0.1}}
	}
	if c.acp {
		o.Keys = b.modelServer(o)
	}
	b.Stand = agenttest.New(c.T, c.agent, o)
	if b.models != nil {
		b.Upstream = b.models.LastStatus
	}
	b.Env = append(b.Env, "TMPDIR="+c.TempDir()) // where some of them leave reports
	if zone := os.Getenv("TZ"); zone != "" {
		b.Env = append(b.Env, "TZ="+zone) // in which it may tell times
	}
	b.Timeout = 2 * patience
	own := b.Adapter.Env
	b.Adapter.Env = func(o agent.Order) []string { return append(slices.Clone(own(o)), c.env...) }
	b.order = agent.Order{Iteration: 3, Max: 10, Model: c.model, Prompt: "Write hello.txt, as the real tests ask.\n"}
	c.Cleanup(func() {
		if c.Failed() {
			c.Logf("items:\n%s", b.Script())
			for _, r := range b.server.Requests() {
				c.Logf("%s %s model %s, work %v, %d bytes", r.Method, r.Path, r.Model, r.Work, len(r.Body))
			}
		}
		b.noneLeft()
	})
	return b
}

// modelServer puts ralph's model server between the program and the other. It returns the keys for it.
func (b *bench) modelServer(o agent.Options) agent.Keys {
	b.Helper()
	makers, can := o.Keys.Makers(b.agent, b.model)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil || !can || len(makers) != 1 {
		b.Fatal(makers, can, err)
	}
	base, err := url.Parse(b.server.URL)
	if err != nil {
		b.Fatal(err)
	}
	b.models = &egress.Model{
		Makers:    []egress.Maker{{Dialect: egress.Dialect(makers[0].API), Base: base, Key: realKey, Token: "ralph-token"}},
		Prices:    o.Prices,
		Transport: http.DefaultTransport,
		Refused:   func(r egress.Refusal) { b.Logf("refused: %s", r) },
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- b.models.Serve(ctx, listener) }()
	b.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			b.Error(err)
		}
	})
	return o.Keys.ForModelServer(makers, "http://"+listener.Addr().String(), "ralph-token")
}

// Do has the program work for a turn. What ralph's model server counts takes the place of what it reports.
func (b *bench) Do(ctx context.Context, o agent.Order) (journal.AgentEnded, error) {
	if b.models == nil {
		return b.Stand.Do(ctx, o)
	}
	turn, end := b.models.Turn(ctx)
	got, err := b.Stand.Do(turn, o)
	end()
	spent := b.models.Spent()
	got.Usage, got.Cost = spent.Usage, spent.Cost
	return got, err
}

// dir returns the folder of the whole test: home and tree are in it.
func (b *bench) dir() string { return filepath.Dir(b.Dir) }

// noneLeft fails the test if a process of the bench is left.
func (b *bench) noneLeft() {
	b.Helper()
	if left := living(b.dir()); len(left) > 0 {
		b.Errorf("left behind: %q", left)
	}
}

// living returns the processes that have to do with dir.
func living(dir string) map[string]string {
	found := map[string]string{}
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range all {
		cwd, _ := os.Readlink(proc + "/cwd")
		argv, _ := os.ReadFile(proc + "/cmdline")
		env, _ := os.ReadFile(proc + "/environ")
		if strings.HasPrefix(cwd, dir) || strings.Contains(string(argv)+string(env), dir) {
			found[proc] = strings.ReplaceAll(string(argv), "\x00", " ")
		}
	}
	return found
}
