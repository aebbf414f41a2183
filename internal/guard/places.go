package guard

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ralph-loop/ralph/internal/pattern"
)

// areas divide all paths; the first match counts. The patterns see a path as "./…"
// within the project, "~/…" within a home and "/…" elsewhere. "." is the project,
// and "~" is a home or a folder above the project or the home.
var areas = []struct {
	name string
	is   *pattern.Pattern
}{
	{"root", pattern.Of(`^/$|^/[^/]*[*?\[{]`)},
	{"project", pattern.Of(`^\.$`)},
	{"home", pattern.Of(`^~$`)},
	{"git", pattern.Of(`^\./\.git(?:/|$)`)},
	{"product", pattern.Of(`^\./(?:.*/)?(?:` + generatedNames + `)(?:/|$)`)},
	{"inside", pattern.Of(`^\./`)},
	{"temporary", pattern.Of(`^(?:/private)?/(?:tmp|var/tmp|var/folders)(?:/|$)|^/dev/shm(?:/|$)`)},
	{"device", diskDevice},
	{"endless", pattern.Of(`^/dev/(?:zero|u?random)$`)},
	{"nowhere", pattern.Of(`^/dev/(?:null|std(?:in|out|err)|tty|fd/)`)},
	{"made", pattern.Of(`^/var/(?:lib/apt/lists|cache)/`)},
	{"log", pattern.Of(`^/var/log/`)},
	{"system", pattern.Of(`^/(?:bin|boot|dev|etc|home|lib|lib32|lib64|opt|proc|root|run|sbin|snap|srv|sys|usr|var|System|Library|Applications|Users|private|Windows|cygdrive)(?:/|$)`)},
	{"made", pattern.Of(`(?i)/(?:` + generatedNames + `|\.?caches?|_cacache|_logs|\.npm|\.gradle|DerivedData|tmp|temp|registry|\.m2|pkg/mod)(?:/|$)`)},
	{"outside", pattern.Of(``)},
}

const generatedNames = `node_modules|dist|build|target|out|coverage|__pycache__|\.next|\.nuxt|\.turbo|\.parcel-cache|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.tox|\.venv|venv|\.cache|\.terraform|[^/]*\.egg-info`

var guardedFiles = []struct {
	category Category
	file     *pattern.Pattern
}{
	{ProtectedPath, pattern.Of(`^\./\.ralph(?:-active$|/|$)`)},
	{Persistence, pattern.Of(`^[.~]/\.(?:claude/(?:settings(?:\.local)?\.json|hooks(?:/|$))|cursor/hooks|codex/(?:hooks(?:\.json|/|$)|config\.toml)|gemini/settings\.json)`)},
	{GitDestruction, pattern.Of(`^\./\.git/(?:config|HEAD|index|refs|objects|packed-refs|logs)(?:/|$)`)},
	{Persistence, pattern.Of(`^~/(?:\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|zlogin|xinitrc|xprofile|pam_environment)$|\.config/(?:fish/config\.fish$|autostart/|systemd/user/)|\.ssh/(?:authorized_keys2?|rc)$)`)},
	{Persistence, pattern.Of(`^/etc/(?:cron|rc\.local|init\.d|systemd/system|profile|bash\.bashrc|zsh|environment|ld\.so\.preload|xdg/autostart)|/\.git/hooks/|^/var/spool/cron|/Library/Launch(?:Agents|Daemons)/`)},
	{ProtectedPath, pattern.Of(`^~/(?:\.ssh/(?:[^k]|k[^n])|\.aws(?:/|$)|\.gnupg(?:/|$)|\.kube/config$|\.azure(?:/|$)|\.config/gcloud(?:/|$)|\.docker/config\.json$|\.netrc$|\.pgpass$)`)},
	{DiskDestruction, diskDevice},
	{RemoteAccess, pattern.Of(`^/dev/(?:tcp|udp)/(?:[^/]*[a-z][^/]*\.|(?:[02-9]|1[013-9]|12[0-689])\d*\.)`)},
	{ProcessManipulation, pattern.Of(`^/(?:proc/(?:[^s]|s[^e]|sys)|sys/)`)},
	{PrivilegeEscalation, pattern.Of(`^/etc/sudoers`)},
	{SystemConfiguration, pattern.Of(`^/etc/(?:hosts|resolv\.conf|hostname|passwd|group|shadow|pam\.d|security|sysctl|fstab|nsswitch\.conf|selinux|apparmor|iptables|ufw|network|systemd)`)},
	{ProtectedPath, pattern.Of(`^/(?:etc|bin|sbin|lib|lib32|lib64|boot|usr/(?:bin|sbin|lib|libexec|share|include)|System|Library)(?:/|$)`)},
}

var (
	diskDevice  = pattern.Of(`^/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper|md|dm-|loop|mem|kmem|port|sr)`)
	homeDirs    = pattern.Of(`^(?:/home/[^/]+|/Users/[^/]+|/root)(/|$)`)
	wholeFolder = pattern.Of(`/(?:\*|\.\*|\.\[\^?!?\.\]\*|\*\*(?:/\*)?|\*\.\*|\.\?\*)$`) // everything in a folder
)

func (j *judge) resolve(p string, sc *scope) string {
	if rest, ok := strings.CutPrefix(p, "~"); ok && (rest == "" || rest[0] == '/') {
		p = j.project.Home + rest
	}
	if i := strings.Index(p, markStart); i >= 0 {
		known := p[:strings.LastIndex(p[:i], "/")+1]
		// An unknown name directly in the home or above it can be the project.
		if known == "" || contains(path.Clean(known), j.project.Home) || contains(path.Clean(known), j.project.Root) {
			return ""
		}
		p = known + "unknown"
	}
	switch {
	case path.IsAbs(p):
		return path.Clean(p)
	case p == "" || sc.dir == "":
		return ""
	}
	return path.Join(sc.dir, p)
}

func (j *judge) fileKey(file string, sc *scope) string { return cmp.Or(j.resolve(file, sc), file) }

func contains(dir, p string) bool { return dir == "/" || dir == p || strings.HasPrefix(p, dir+"/") }

func (j *judge) shortPath(p string) string {
	if cut := wholeFolder.ReplaceAllString(p, ""); cut != p {
		p = path.Clean("/" + cut)
	}
	root, home := j.project.Root, j.project.Home
	switch {
	case contains(root, p):
		return "." + p[len(root):]
	case p != "/" && (contains(p, root) || contains(p, home)):
		return "~"
	case contains(home, p):
		return "~" + p[len(home):]
	}
	return homeDirs.ReplaceAllString(p, "~$1")
}

// isInArea reports whether a path, or the path of x=@path, is in one of the areas.
func (j *judge) isInArea(names, p string, sc *scope) bool {
	if _, file, sent := strings.Cut("="+p, "=@"); sent {
		p = file
	}
	p = j.resolve(p, sc)
	if p == "" || names == keyFile || names == envFile {
		return p != "" && j.secretKind(p, sc) == names
	}
	for _, a := range areas {
		if a.is.MatchString(j.shortPath(p)) {
			return matchesAny(names, a.name)
		}
	}
	return false
}

func (j *judge) checkWrite(target string, sc *scope) {
	p := j.resolve(target, sc)
	rel, inside := strings.CutPrefix(p, j.project.Root+"/")
	if inside && !sc.inContainer && slices.ContainsFunc(j.project.Protect, func(glob string) bool { return matchesGlob(glob, rel) }) {
		j.report(ProtectedPath, "writing to "+target, "")
	}
	for _, w := range guardedFiles {
		if !sc.inContainer && w.file.MatchString(j.shortPath(p)) {
			j.report(w.category, "writing to "+target, "")
		}
	}
}

func matchesGlob(glob, rel string) bool {
	glob = strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
	file, _ := doublestar.Match(glob, rel)
	below, _ := doublestar.Match(glob+"/**", rel)
	return file || below
}

// Keys must never be shown or copied. A project's programs read its .env, and
// people copy it.
const keyFile, envFile = "key", "env"

var (
	homeSecret   = pattern.Of(`^~/(?:\.ssh(?:$|/\*?$|/id_[^/]*$|/[^/]*key[^/]*$|/identity$)|\.aws(?:$|/\*$|/cred[^/]*$)|\.kube/(?:config|\*)?$|\.docker/config\.json$|\.netrc$|\.pgpass$|\.my\.cnf$|\.npmrc$|\.pypirc$|\.git-credentials$|\.gnupg(?:$|/)|\.config/(?:gcloud(?:$|/)|gh/hosts\.yml|hub$)|\.azure/|\.cargo/credentials|\.gem/credentials|\.claude/\.credentials\.json|\.codex/auth\.json|\.vault-token|\.terraform\.d/credentials|\.s3cfg$|\.boto$|\.password-store|\.local/share/keyrings|Library/Keychains|\.[a-z_]*history$|\.env)`)
	systemSecret = pattern.Of(`^/(?:etc/(?:g?shadow-?|sudoers(?:\.d/.*)?|ssh/ssh_host_.*_key|krb5\.keytab|kubernetes/admin\.conf|security/opasswd)|proc/[^/]+/(?:environ|mem)|(?:var/)?run/secrets/.*)$`)
	envName      = pattern.Of(`^\.env(?:\..+)?$|^[^.]+\.env$`)
	keyName      = pattern.Of(`(?i)^id_(?:rsa|dsa|ecdsa|ed25519)$|\.(?:p12|pfx|ppk|kdbx|jks)$|^(?:[^.]*private[^.]*|[^.]*[_-]key|key|privkey)\.pem$|\.key$|^(?:credentials|secrets?)\.(?:json|ya?ml|toml)$|^service[-_]?account.*\.json$|^\.(?:netrc|pgpass|git-credentials|htpasswd)$`)
	sampleFile   = pattern.Of(`(?i)\.(?:example|sample|template|dist|defaults?|test|ci|tpl|schema|pub)$|/\.ssh/(?:config|known_hosts|authorized_keys|allowed_signers)|/(?:tests?|testdata|fixtures?|examples?|__tests__|mocks?|spec|docs?)/`)
)

func (j *judge) secretKind(name string, sc *scope) string {
	p := j.resolve(name, sc)
	n, base := j.shortPath(p), strings.ReplaceAll(path.Base(name), "*", "")
	switch {
	case strings.HasPrefix(name, "-") || sampleFile.MatchString("/"+name):
	case homeSecret.MatchString(n), systemSecret.MatchString(n), keyName.MatchString(base):
		return keyFile
	case envName.MatchString(base):
		return envFile
	}
	return ""
}
