package survey

import (
	"bytes"
	"slices"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// kind is a kind of project, by its files.
type kind struct {
	group string // of several kinds in a group the first counts
	file  string
	word  string // in that file
	needs string // another file
	check string
	setup string
}

var kinds = []kind{
	{group: "go vet", file: "go.mod", check: "go vet ./..."},
	{group: "go", file: "go.mod", check: "go test ./..."},
	{group: "rust", file: "Cargo.toml", word: "[workspace]", check: "cargo test --workspace"},
	{group: "rust", file: "Cargo.toml", check: "cargo test"},
	{
		group: "python", file: "pyproject.toml", word: "pytest", needs: "uv.lock",
		check: "uv run pytest", setup: "uv sync --locked",
	},
	{
		group: "python", file: "pyproject.toml", word: "pytest", needs: "poetry.lock",
		check: "poetry run pytest", setup: "poetry install",
	},
	{group: "python", file: "pytest.ini", check: "python3 -m pytest"},
	{group: "python", file: "pyproject.toml", word: "pytest", check: "python3 -m pytest"},
	{group: "python", file: "setup.cfg", word: "pytest", check: "python3 -m pytest"},
	{group: "python", file: "tox.ini", word: "pytest", check: "python3 -m pytest"},
	{group: "python", file: "requirements.txt", word: "pytest", check: "python3 -m pytest"},
	{group: "python", file: "pyproject.toml", needs: "tests/", check: "python3 -m unittest discover -s tests"},
	{group: "python", file: "setup.py", needs: "tests/", check: "python3 -m unittest discover -s tests"},
	{group: "java", file: "pom.xml", needs: "mvnw", check: "sh mvnw -B test"},
	{group: "java", file: "pom.xml", check: "mvn -B test"},
	{group: "java", file: "build.gradle", needs: "gradlew", check: "sh gradlew test"},
	{group: "java", file: "build.gradle", check: "gradle test"},
	{group: "java", file: "build.gradle.kts", needs: "gradlew", check: "sh gradlew test"},
	{group: "java", file: "build.gradle.kts", check: "gradle test"},
	{group: "ruby", file: "Gemfile", needs: "spec/", check: "bundle exec rspec"},
	{group: "ruby", file: "Rakefile", needs: "test/", check: "bundle exec rake test"},
	{group: "php", file: "composer.json", word: `"test"`, check: "composer test"},
	{group: "elixir", file: "mix.exs", check: "mix test"},
	{group: "swift", file: "Package.swift", check: "swift test"},
}

// kinds returns what a project is.
func (f *folder) kinds() []kind {
	var found []kind
	for _, k := range kinds {
		if slices.ContainsFunc(found, func(earlier kind) bool { return earlier.group == k.group }) {
			continue
		}
		if k.needs != "" && !f.has(k.needs) {
			continue
		}
		text := f.read(k.file)
		if text != nil && bytes.Contains(text, []byte(k.word)) {
			found = append(found, k)
		}
	}
	return found
}

var locks = pattern.Of(`(?:^|/)(?:(?:package-lock|npm-shrinkwrap|packages\.lock)\.json|pnpm-lock\.yaml|` +
	`bun\.lockb?|gradle\.lockfile|go\.sum|pom\.xml|build\.gradle(?:\.kts)?|libs\.versions\.toml|` +
	`Package\.resolved|requirements[\w.-]*\.txt|` +
	`(?:yarn|deno|Cargo|Gemfile|poetry|uv|Pipfile|pdm|composer|mix)\.lock)$`)

// Locks reports whether a file names the dependencies that a project fetches.
func Locks(name string) bool { return locks.MatchString(name) }
