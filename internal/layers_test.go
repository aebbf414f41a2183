// Package internal_test holds the plan of the house against the code. It is
// the authority on who may import whom; docs/dev/house.md explains the plan.
package internal_test

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	module   = "github.com/ralph-loop/ralph"
	support  = "internal/testsupport/" // what only tests and the demo use
	standIn  = support + "githubtest"
	contract = standIn + "/contract"
	gitHTTP  = standIn + "/githttp"
	stories  = support + "journaltest"
	models   = support + "modeltest"
	scripted = support + "scripted"
	demo     = support + "demo"
	agents   = support + "agenttest"
	few      = support + "short"
	rights   = support + "rights"
)

// anyone may hold the tool: a harmless package below a sharp one.
var anyone = []string{"*"}

// plan is the house as it stands. A new package gets its layer here, a new
// dependency its keeper, in the commit that brings them.
var plan = house{
	module: module,
	layers: [][]string{
		0:  {"templates", "internal/agentfiles", "internal/fault", "internal/redact", "internal/clean", "internal/pattern", "internal/jsontree", "internal/yamlfile"},
		1:  {"internal/plan", "internal/policy", "internal/stream", "internal/claim", "internal/price", "internal/guard", "internal/results", "internal/review", "internal/shell", "internal/makefile", "internal/environ"},
		2:  {"internal/journal", "internal/trigger", "internal/mcp", "internal/survey", "internal/suite"},
		3:  {"internal/verdict"},
		4:  {"internal/prompt", "internal/view", "internal/view/ending", "internal/evidence", "internal/result", "internal/checkdef", "internal/quota", "internal/upkeep", "internal/process", "internal/untrusted"},
		5:  {"internal/git", "internal/git/guarded", "internal/workspace", "internal/agent", "internal/check", "internal/egress", "internal/github", "internal/report", "internal/stats", "internal/trace", "internal/sandbox", "internal/sandbox/connect", "internal/sandbox/seccomp", standIn, gitHTTP, stories, models, few, rights},
		6:  {"internal/box", "internal/loop", "internal/proof", "internal/publish", "internal/confine", "internal/instructions", "internal/attachment", "internal/git/remote", "internal/git/handover", "internal/agent/driver", contract},
		7:  {"internal/checkout", "internal/merging", "internal/recorded", "internal/suggestion", "internal/sweep", "internal/ledger", agents},
		8:  {"internal/job", "internal/doctor", "internal/eval", "internal/proofcheck", "internal/aftercare"},
		9:  {"internal/config"},
		10: {"internal/action", "internal/hook", "internal/laptop", "internal/scaffold", "internal/server"},
		11: {demo, scripted},
		12: {"cmd/ralph", "tools/prices"},
	},
	pure:  5,
	tools: []string{"internal/process", "internal/untrusted"},
	shut: map[string]int{ // the engine takes its hands as func fields
		"internal/loop":  5,
		"internal/proof": 5,
	},
	keepers: map[string][]string{
		// Internal packages, with a few exceptions. Test files are not read.
		module + "/" + standIn:  {demo, contract},
		module + "/" + gitHTTP:  {standIn},
		module + "/" + contract: {},
		module + "/" + stories:  {},
		module + "/" + models:   {},
		module + "/" + agents:   {},
		module + "/" + few:      {},
		module + "/" + scripted: {"cmd/ralph"},
		module + "/" + demo:     {"cmd/ralph"},

		// The machine.
		"os": {
			"internal/process", "internal/untrusted", "internal/git", "internal/git/guarded", "internal/git/handover", "internal/workspace", "internal/agent", "internal/agent/driver", "internal/sandbox", "internal/sandbox/connect", "internal/box",
			standIn, gitHTTP, contract, stories, agents, scripted, rights, "internal/confine", "internal/checkout", "internal/eval", "internal/proofcheck", "internal/job", "internal/action", "internal/hook", "internal/scaffold", demo, "internal/laptop", "cmd/ralph", "tools/prices",
		},
		"os/exec":          {"internal/process"},
		"os/signal":        {"cmd/ralph"},
		"syscall":          {"internal/process", "internal/untrusted", "internal/workspace", "internal/sandbox", "internal/sandbox/connect", "internal/laptop", "cmd/ralph"}, // workspace: flock; laptop: its errors
		"golang.org/x/sys": {"internal/process", "internal/sandbox", "internal/sandbox/connect", rights},
		"flag":             {few},
		"unsafe":           {"internal/sandbox", "internal/sandbox/connect"},
		"plugin":           {},
		"C":                {},

		// The network.
		"net":          {standIn, "internal/github", "internal/egress", "internal/sandbox", "internal/server"},
		"net/http":     {standIn, gitHTTP, contract, models, "internal/attachment", "internal/egress", "internal/github", "internal/server"},
		"crypto/tls":   {"internal/egress"},
		"net/http/cgi": {gitHTTP},
		"net/netip":    anyone,
		"net/url":      anyone,

		// Words a person or an agent reads.
		"embed":         {"templates"},
		"html/template": {"internal/report", "internal/server"},
		"text/template": {"internal/prompt", "internal/view", "internal/report", "internal/proofcheck", "internal/scaffold"},

		// What others wrote: each has a keeper, or it does not come in.
		"github.com/BurntSushi/toml":              {"internal/checkdef"},
		"github.com/alecthomas/kong":              {"cmd/ralph"},
		"github.com/bmatcuk/doublestar":           {"internal/guard", "internal/git/handover", "internal/proof", "internal/checkout", "internal/config"},
		"github.com/bradleyfalzon/ghinstallation": {"internal/github"},
		"github.com/coreos/go-oidc":               {"internal/server"},
		"github.com/elastic/go-seccomp-bpf":       {"internal/sandbox", "internal/sandbox/seccomp"},
		"github.com/getkin/kin-openapi":           {contract},
		"github.com/go-json-experiment/json":      {"internal/agent", "internal/egress", "internal/plan"},
		"github.com/goccy/go-yaml":                {"internal/yamlfile", "internal/config", "internal/survey"},
		"github.com/google/go-cmp":                {stories},
		"github.com/google/go-github":             {"internal/github"},
		"github.com/google/renameio":              {"internal/workspace", "internal/box", "internal/confine"},
		"github.com/invopop/jsonschema":           {},
		"github.com/joshdk/go-junit":              {"internal/results"},
		"github.com/landlock-lsm/go-landlock":     {"internal/sandbox"},
		"github.com/prometheus/client_golang":     {"internal/server"},
		"github.com/rivo/uniseg":                  {"internal/view"},
		"github.com/rhysd/actionlint":             {},
		"github.com/santhosh-tekuri/jsonschema":   {},
		"github.com/sethvargo/go-githubactions":   {"internal/action"},
		"github.com/yuin/goldmark":                {"internal/plan", "internal/clean", "internal/report"},
		"go.opentelemetry.io/otel":                {"internal/trace"},
		"go.opentelemetry.io/proto/otlp":          {},
		"google.golang.org/protobuf":              {},
		"golang.org/x/mod":                        {"internal/checkdef"},
		"golang.org/x/net/bpf":                    {"internal/sandbox", "internal/sandbox/seccomp"},
		"golang.org/x/net/http/httpproxy":         {"internal/egress"},
		"golang.org/x/net/idna":                   {"internal/egress"},
		"golang.org/x/net/html":                   {"internal/clean"},
		"golang.org/x/sync":                       {"internal/egress"},
		"golang.org/x/term":                       {"internal/scaffold", "internal/laptop", "cmd/ralph"},
		"gotest.tools/gotestsum":                  {"internal/results"},
		"mvdan.cc/sh":                             {"internal/guard", "internal/shell"},
		"golang.org/x/tools/txtar":                {scripted, demo, stories},
	},
}

func TestLayers(t *testing.T) {
	complaints, err := plan.inspect(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range complaints {
		t.Error(c)
	}
}

// The list of packages in docs/dev/house.md: a layer, then its packages.
var (
	ofLayer  = regexp.MustCompile(`^Layer (\d+):$`)
	standing = regexp.MustCompile("^- `([^`]+)`: ")
)

func TestHouseIsDrawnAsItStands(t *testing.T) {
	page, err := os.ReadFile("../docs/dev/house.md")
	if err != nil {
		t.Fatal(err)
	}
	drawn := make([][]string, len(plan.layers))
	_, list, _ := strings.Cut(string(page), "## Packages\n")
	list, _, _ = strings.Cut(list, "\n## ")
	layer := 0
	for line := range strings.Lines(list) {
		if m := ofLayer.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			if layer, err = strconv.Atoi(m[1]); err != nil || layer >= len(drawn) {
				t.Fatalf("no such layer: %s", line)
			}
		} else if m := standing.FindStringSubmatch(line); m != nil {
			drawn[layer] = append(drawn[layer], m[1])
		}
	}
	built := make([][]string, len(plan.layers))
	for i, packages := range plan.layers {
		for _, pkg := range packages {
			built[i] = append(built[i], strings.TrimPrefix(pkg, "internal/"))
		}
		slices.Sort(built[i])
		slices.Sort(drawn[i])
	}
	if diff := cmp.Diff(built, drawn); diff != "" {
		t.Errorf("docs/dev/house.md differs from the plan (-plan +page):\n%s", diff)
	}
}
