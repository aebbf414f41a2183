SHELL       := bash -o pipefail
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME    ?= 1000x
LINT        := .bin/golangci-lint-v2.15.0
ACTIONS     := .bin/actionlint-v1.7.12
ACT         := .bin/act-v0.2.89
RELEASER    := .bin/goreleaser-v2.15.0
tests       := grep -r --include='*_test.go' --exclude-dir=node_modules
rows        := grep -vE '^ *(=== |--- PASS: .*/)'
npm_ci      := npm ci --no-audit --no-fund --prefix
# Whole runs of the program and long tables: the race detector takes minutes more for them, so only make race has it look at these.
slow        := cmd/ralph$$|internal/(agent/(agent|guard)|box/sandbox|git/git|lib/clean|proof/(check|checkdef|checkout|proof)|show/(report|view))$$
# Kills, faults and large things take several seconds each: make test leaves them to make long and make kill.
long        := ^Test(.*Kill|Endurance|Faults|Interrupt|.*Outlive|Finish|ALarge|ALongRunAsks|TokensEnd|HostMakes|TwoAtOnce|StopAsked|ARunThatBreaks|HugeFiles)
# The race detector needs C. Nothing else does, and so packages are compiled once.
export CGO_ENABLED := 0
# Tests work in memory if there is room, and no repository around them.
export RALPH_TEST_MEMORY := $(shell findmnt -nbo AVAIL,OPTIONS /dev/shm 2>/dev/null | awk '$$1 > 4e9 && !/noexec/ && system("test -e /dev/shm/.git") { dir = "/dev/shm" } END { print dir }')

.PHONY: build demo test check check-race check-slow program long scripts race fmt lint golden reference fuzz bench contract agents kill attack services projects image container report-check pictures false-ready release-build release-check live
build:
	go build -ldflags '-s -w -X main.version=$(VERSION)' -o dist/ralph ./cmd/ralph
demo: build
	dist/ralph demo $(ARGS)
test: # without long tests, and one row in 32 of long tables; make check runs all, and go vet
	go test -short -vet=off -ldflags='-s -w' -skip='$(long)' ./...
check: lint check-race check-slow program long scripts # with -k each goes, even if one before it fails
check-race:
	go mod tidy -diff
	CGO_ENABLED=1 go test -race -vet=off -shuffle=on $$(go list ./... | grep -vE '$(slow)')
check-slow:
	go test -vet=off -shuffle=on -timeout=45m $$(go list ./internal/... | grep -E '$(slow)')
program: # the tests of cmd/ralph without scripts and long ones
	go test -vet=off -shuffle=on -timeout=45m -skip='^TestScripts$$|$(long)' ./cmd/ralph
long:
	go test -vet=off -shuffle=on -timeout=45m -run='$(long)' -skip=Kill ./cmd/ralph
scripts: # those in cmd/ralph/testdata/script; PART is the beginning of their names
	go test -vet=off -timeout=90m -run='^TestScripts$$/^($(PART))' ./cmd/ralph
race:
	CGO_ENABLED=1 go test -race -shuffle=on -timeout=30m ./...
fmt: $(LINT)
	$(LINT) fmt
lint: $(LINT) $(ACTIONS)
	$(LINT) config verify && $(LINT) run ./...
	$(ACTIONS) && $(ACTIONS) examples/*.yml tools/services/workflow.yml
golden: # all golden files
	$(tests) -lE 'flag\.Bool(Var)?\(.*"update"' . | xargs -r -n1 dirname | sort -u | xargs -r sh -c 'go test -count=1 "$$@" -update' --
reference: # the parts of docs/ that are made from the code
	go test -count=1 ./cmd/ralph -run=TestReference -update
fuzz:
	@$(tests) -oE '^func Fuzz[A-Za-z0-9_]+' . | sed 's|/[^/]*:func | |' | while read -r dir name; do \
		echo "$$dir $$name" && go test -run='^$$' -fuzz="^$$name$$" -fuzztime=$(FUZZTIME) -fuzzminimizetime=10x "$$dir" || exit 1; done
bench:
	go test -run='^$$' -bench=. -benchmem ./internal/...
contract: # the simulated GitHub against GitHub's own description of its API; CALLS has calls that make check recorded
	$(npm_ci) tools/contract
	CONTRACT=1 go test -count=1 ./internal/hub/github/... ./internal/testsupport/...
	[[ -n "$(CALLS)" ]] || { rm -rf dist/calls && mkdir -p dist/calls && GITHUB_CALLS=$(CURDIR)/dist/calls go test -count=1 -run=Scripts/action ./cmd/ralph; }
	CONTRACT=1 go test -count=1 -run=TestRecorded ./internal/testsupport/githubtest/contract -calls=$(or $(CALLS),$(CURDIR)/dist/calls)
agents: # the real CLIs against a model server; npm ci would want other machines' packages in the lock
	npm --prefix tools/agents install --no-save --no-audit --no-fund
	AGENTS=1 go test -count=1 -p=2 -parallel=3 -timeout=1h -v -run='^Test(Real|Agents)' ./internal/agent/... ./cmd/ralph
kill: # a kill at any event loses nothing
	go test -count=1 -timeout=30m -run=Kill -v ./cmd/ralph
false-ready: # does ralph call work ready that is not, and what does it hold back? docs/dev/false-ready.md
	FALSE_READY=1 go test -count=1 -timeout=25m -v -run=TestFalseReady ./cmd/ralph 2>&1 | $(rows)
attack: # the sandbox from inside, at each level of this machine; as root, by all users
	ATTACK=10s go -C internal/box/sandbox test ./... -count=1 -timeout=10m
	ATTACK=1 go test -count=1 -timeout=10m -run='VectorsOfATree|RefusesBombs|EverySpelling|WaitsForAPipe|WhatIsNoFile|IsBounded|RemoveAll' ./cmd/ralph ./internal/git/git ./internal/lib/untrusted ./internal/git/workspace
services: $(ACT) # checks that use Debian's Postgres and Redis, at each level of the sandbox and in a workflow
	ACT=$(CURDIR)/$(ACT) tools/services/check.sh
projects: # small projects of pnpm, Poetry, uv and Cargo, as a user sets them up, runs and proves them
	tools/projects/check.sh
image: # the image of Dockerfile; without a registry, on Debian, Go and node as they are here
	VERSION=$(VERSION) tools/image/build.sh
container: $(ACT) # the sandbox in stock Docker, and the image as a runner and as act start it
	tools/container/sandbox.sh
	$(npm_ci) tools/cache
	VERSION=$(VERSION) ACT=$(CURDIR)/$(ACT) tools/image/build.sh tools/container/runner.sh
release-build: $(RELEASER) # the files of a release, into dist/; KIND=release is what the workflow asks for
	GORELEASER=$(CURDIR)/$(RELEASER) tools/release/build.sh $(VERSION) $(KIND)
release-check: $(RELEASER) $(ACT) # the release workflow under act, without publishing, and what it builds
	GORELEASER=$(CURDIR)/$(RELEASER) ACT=$(CURDIR)/$(ACT) tools/release/check.sh
live: # the README on a real repository: REPO=owner/scratch, a token in GH_TOKEN, and one of a stranger in FORK_TOKEN
	LIVE=$(REPO) go test -count=1 -timeout=20m -v -run='^TestLive$$' ./cmd/ralph
report-check: # the page of a run in a real browser, which Debian has
	$(npm_ci) tools/report
	rm -rf dist/pages && mkdir -p dist/pages && go test -count=1 -run=TestPages ./internal/show/report -pages "$(CURDIR)/dist/pages"
	CHROMIUM=$$(tools/report/browser.sh) node tools/report/check.mjs dist/pages $(PICTURES)
pictures: build # comment and pull request of the demo, as GitHub shows them
	$(npm_ci) tools/report
	rm -rf dist/demo && mkdir -p dist/demo && dist/ralph demo --keep --dir dist/demo >/dev/null
	CHROMIUM=$$(tools/report/browser.sh) node tools/report/pictures.mjs dist/demo docs
.bin/golangci-lint-%:
	GOBIN=$(CURDIR)/.bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$* && mv .bin/golangci-lint $@
.bin/actionlint-%:
	GOBIN=$(CURDIR)/.bin go install github.com/rhysd/actionlint/cmd/actionlint@$* && mv .bin/actionlint $@
.bin/goreleaser-%:
	GOBIN=$(CURDIR)/.bin go install github.com/goreleaser/goreleaser/v2@$* && mv .bin/goreleaser $@
.bin/act-%:
	GOBIN=$(CURDIR)/.bin go install github.com/nektos/act@$* && mv .bin/act $@
