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
		0:  {"templates", "internal/lib/agentfiles", "internal/lib/fault", "internal/lib/redact", "internal/lib/clean", "internal/lib/pattern", "internal/lib/jsontree", "internal/lib/yamlfile"},
		1:  {"internal/core/plan", "internal/core/policy", "internal/core/stream", "internal/core/claim", "internal/core/price", "internal/agent/guard", "internal/proof/results", "internal/agent/review", "internal/lib/shell", "internal/proof/makefile", "internal/lib/environ"},
		2:  {"internal/core/journal", "internal/core/trigger", "internal/agent/mcp", "internal/proof/survey", "internal/proof/suite"},
		3:  {"internal/core/verdict", "internal/lib/untrusted"},
		4:  {"internal/core/prompt", "internal/show/view", "internal/show/view/ending", "internal/show/evidence", "internal/show/result", "internal/proof/checkdef", "internal/core/quota", "internal/hub/upkeep", "internal/lib/process", "internal/git/guarded"},
		5:  {"internal/git/git", "internal/git/workspace", "internal/agent/agent", "internal/proof/check", "internal/box/egress", "internal/hub/github", "internal/show/report", "internal/show/stats", "internal/show/trace", "internal/box/sandbox", "internal/box/sandbox/connect", "internal/box/sandbox/seccomp", standIn, gitHTTP, stories, models, few, rights},
		6:  {"internal/box/box", "internal/core/loop", "internal/proof/proof", "internal/run/publish", "internal/box/confine", "internal/agent/instructions", "internal/agent/attachment", "internal/git/remote", "internal/box/handover", "internal/agent/driver", contract},
		7:  {"internal/proof/checkout", "internal/run/merging", "internal/run/recorded", "internal/hub/suggestion", "internal/hub/sweep", "internal/hub/ledger", agents},
		8:  {"internal/run/job", "internal/entry/doctor", "internal/entry/eval", "internal/hub/proofcheck", "internal/hub/aftercare"},
		9:  {"internal/entry/config"},
		10: {"internal/entry/action", "internal/entry/hook", "internal/entry/laptop", "internal/entry/scaffold", "internal/entry/server"},
		11: {demo, scripted},
		12: {"cmd/ralph", "tools/prices"},
	},
	pure:  5,
	tools: []string{"internal/lib/process", "internal/lib/untrusted", "internal/git/guarded"},
	shut: map[string]int{ // the engine takes its hands as func fields
		"internal/core/loop":   5,
		"internal/proof/proof": 5,
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
			"internal/lib/process", "internal/lib/untrusted", "internal/git/git", "internal/git/guarded", "internal/box/handover", "internal/git/workspace", "internal/agent/agent", "internal/agent/driver", "internal/box/sandbox", "internal/box/sandbox/connect", "internal/box/box",
			standIn, gitHTTP, contract, stories, agents, scripted, rights, "internal/box/confine", "internal/proof/checkout", "internal/entry/eval", "internal/hub/proofcheck", "internal/run/job", "internal/entry/action", "internal/entry/hook", "internal/entry/scaffold", demo, "internal/entry/laptop", "cmd/ralph", "tools/prices",
		},
		"os/exec":          {"internal/lib/process"},
		"os/signal":        {"cmd/ralph"},
		"syscall":          {"internal/lib/process", "internal/lib/untrusted", "internal/git/workspace", "internal/box/sandbox", "internal/box/sandbox/connect", "internal/entry/laptop", "cmd/ralph"}, // workspace: flock; laptop: its errors
		"golang.org/x/sys": {"internal/lib/process", "internal/box/sandbox", "internal/box/sandbox/connect", rights},
		"flag":             {few},
		"unsafe":           {"internal/box/sandbox", "internal/box/sandbox/connect"},
		"plugin":           {},
		"C":                {},

		// The network.
		"net":          {standIn, "internal/hub/github", "internal/box/egress", "internal/box/sandbox", "internal/entry/server"},
		"net/http":     {standIn, gitHTTP, contract, models, "internal/agent/attachment", "internal/box/egress", "internal/hub/github", "internal/entry/server"},
		"crypto/tls":   {"internal/box/egress"},
		"net/http/cgi": {gitHTTP},
		"net/netip":    anyone,
		"net/url":      anyone,

		// Words a person or an agent reads.
		"embed":         {"templates"},
		"html/template": {"internal/show/report", "internal/entry/server"},
		"text/template": {"internal/core/prompt", "internal/show/view", "internal/show/report", "internal/hub/proofcheck", "internal/entry/scaffold"},

		// What others wrote: each has a keeper, or it does not come in.
		"github.com/BurntSushi/toml":              {"internal/proof/checkdef"},
		"github.com/alecthomas/kong":              {"cmd/ralph"},
		"github.com/bmatcuk/doublestar":           {"internal/agent/guard", "internal/box/handover", "internal/proof/proof", "internal/proof/checkout", "internal/entry/config"},
		"github.com/bradleyfalzon/ghinstallation": {"internal/hub/github"},
		"github.com/coreos/go-oidc":               {"internal/entry/server"},
		"github.com/elastic/go-seccomp-bpf":       {"internal/box/sandbox", "internal/box/sandbox/seccomp"},
		"github.com/getkin/kin-openapi":           {contract},
		"github.com/go-json-experiment/json":      {"internal/agent/agent", "internal/box/egress", "internal/core/plan"},
		"github.com/goccy/go-yaml":                {"internal/lib/yamlfile", "internal/entry/config", "internal/proof/survey"},
		"github.com/google/go-cmp":                {stories},
		"github.com/google/go-github":             {"internal/hub/github"},
		"github.com/google/renameio":              {"internal/git/workspace", "internal/box/box", "internal/box/confine"},
		"github.com/invopop/jsonschema":           {},
		"github.com/joshdk/go-junit":              {"internal/proof/results"},
		"github.com/landlock-lsm/go-landlock":     {"internal/box/sandbox"},
		"github.com/prometheus/client_golang":     {"internal/entry/server"},
		"github.com/rivo/uniseg":                  {"internal/show/view"},
		"github.com/rhysd/actionlint":             {},
		"github.com/santhosh-tekuri/jsonschema":   {},
		"github.com/sethvargo/go-githubactions":   {"internal/entry/action"},
		"github.com/yuin/goldmark":                {"internal/core/plan", "internal/lib/clean", "internal/show/report"},
		"go.opentelemetry.io/otel":                {"internal/show/trace"},
		"go.opentelemetry.io/proto/otlp":          {},
		"google.golang.org/protobuf":              {},
		"golang.org/x/mod":                        {"internal/proof/checkdef"},
		"golang.org/x/net/bpf":                    {"internal/box/sandbox", "internal/box/sandbox/seccomp"},
		"golang.org/x/net/http/httpproxy":         {"internal/box/egress"},
		"golang.org/x/net/idna":                   {"internal/box/egress"},
		"golang.org/x/net/html":                   {"internal/lib/clean"},
		"golang.org/x/sync":                       {"internal/box/egress"},
		"golang.org/x/term":                       {"internal/entry/scaffold", "internal/entry/laptop", "cmd/ralph"},
		"gotest.tools/gotestsum":                  {"internal/proof/results"},
		"mvdan.cc/sh":                             {"internal/agent/guard", "internal/lib/shell"},
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
