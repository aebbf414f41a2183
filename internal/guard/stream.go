package guard

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// stream is what flows through a pipe, as far as it can be told without
// running anything: its text, or at least where it came from.
type stream struct {
	text    string
	known   bool
	fetched bool   // came from the network
	decoded bool   // was decoded: base64 and its kin
	secret  string // came from this secret
	tree    bool   // an archive, or a dump of a database
	all     string // paths under this folder, unfiltered: find, ls
	ids     bool   // ids of everything there is: docker ps -q, ps
}

func known(text string) stream { return stream{text: text, known: true} }

// also is both at once, where only the origins count.
func (s stream) also(o stream) stream {
	s.fetched, s.decoded, s.tree, s.ids = s.fetched || o.fetched, s.decoded || o.decoded, s.tree || o.tree, s.ids || o.ids
	if s.secret == "" {
		s.secret = o.secret
	}
	if s.all == "" {
		s.all = o.all
	}
	return s
}

// then is one after the other.
func (s stream) then(o stream) stream {
	t := s.also(o)
	silent := stream{}
	switch {
	case s == silent:
		t.text, t.known = o.text, o.known
	case o == silent:
		t.text, t.known = s.text, s.known
	default:
		t.text, t.known = s.text+o.text, s.known && o.known
	}
	return t
}

// opaque keeps the origins and forgets the text.
func (s stream) opaque() stream {
	s.text, s.known, s.all = "", false, ""
	return s
}

// prints is what a command writes to its output.
func (j *judge) prints(c *call) stream {
	switch c.name {
	case "echo", "printf":
		return c.echoed()
	case "pwd":
		return known(dirOr(c.scope.dir))
	case "which", "command", "type":
		if ops := c.operands(); len(ops) == 1 {
			return known(ops[0])
		}
	case "mktemp":
		return known("/tmp/" + nothing)
	case "cat", "tee":
		return c.passed(j)
	case "git":
		if slices.Equal(c.args, []string{"rev-parse", "--show-toplevel"}) {
			return known(j.place.Root)
		}
	case "find", "ls", "fd":
		return c.listed(j)
	case "ps":
		return stream{ids: !c.has("Cptgs", "--pid", "--ppid", "--tty", "--sid")}
	case "pgrep", "pidof":
		return stream{ids: slices.ContainsFunc(c.operands(), vital.MatchString)}
	case "docker", "podman":
		return stream{ids: len(c.args) > 1 && !c.has("f", "--filter") && strings.Contains(strings.Join(c.args[1:], " "), "q") && strings.Contains(" ps images volume container ", " "+c.args[0]+" ")}
	case "curl", "wget", "http", "https", "lynx", "fetch", "aria2c":
		return stream{fetched: !c.toFileOnly(), secret: c.subs.secret}
	case "sh", "bash", "zsh", "dash":
		if c.has("i", "") {
			return stream{secret: shellSecret}
		}
		return stream{}
	case "tar", "zip", "pg_dump", "pg_dumpall", "mysqldump", "mongodump", "cpio":
		return stream{tree: true, secret: c.in.secret}
	case "env", "printenv", "export", "set", "declare":
		if len(c.operands()) == 0 {
			return stream{secret: "the environment"}
		}
		return stream{}
	}
	return c.filtered()
}

func (c *call) echoed() stream {
	args := c.args
	for c.name == "echo" && len(args) > 0 && (args[0] == "-n" || args[0] == "-e" || args[0] == "-en" || args[0] == "-ne" || args[0] == "-E") {
		args = args[1:]
	}
	out := known(strings.Join(args, " "))
	if c.name == "printf" {
		out.text = formatted(args)
	}
	if c.has("e", "") || c.name == "printf" {
		out.text = unescaped(out.text)
	}
	return out.also(stream{fetched: c.subs.fetched, decoded: c.subs.decoded, secret: c.subs.secret})
}

// formatted is printf with its %s and %b filled in, if that is all it has.
func formatted(args []string) string {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	format, rest := args[0], args[1:]
	if !strings.Contains(format, "%") {
		return format
	}
	var b strings.Builder
	for i := 0; ; i++ {
		text := format
		for len(rest) > 0 {
			at := strings.Index(text, "%")
			if at < 0 || at+1 >= len(text) {
				break
			}
			b.WriteString(text[:at] + rest[0])
			text, rest = text[at+2:], rest[1:]
		}
		b.WriteString(strings.NewReplacer("%s", "", "%b", "", "%%", "%").Replace(text))
		if len(rest) == 0 || i > 50 || !strings.Contains(format, "%") {
			return b.String()
		}
	}
}

// passed is what cat and tee print.
func (c *call) passed(j *judge) stream {
	files := c.operands()
	if c.name == "tee" || len(files) == 0 || slices.Contains(files, "-") || slices.Contains(files, "/dev/stdin") {
		return c.in
	}
	var out stream
	for _, f := range files {
		if what := j.secretFile(f, c.scope); what != "" {
			out.secret = what
		}
		if p := j.resolve(f, c.scope); strings.HasPrefix(p, "/etc/") && out.secret == "" {
			out.secret = f // no secret here, but nobody else's business
		}
		out.fetched = out.fetched || j.fetched[j.resolve(f, c.scope)]
	}
	if strings.Contains(strings.Join(files, " "), "/dev/fd/63") {
		out = out.also(c.subs)
	}
	return out
}

// listed is what find and ls print: all there is under a folder, unless it is
// narrowed down.
func (c *call) listed(j *judge) stream {
	if c.name == "find" {
		if f := parseFind(c.args); !f.narrow || j.where(j.resolve(f.from[0], c.scope)) >= system {
			return stream{all: f.from[0]}
		}
		return stream{}
	}
	if ops := c.operands(); len(ops) > 0 {
		return stream{all: ops[0]}
	}
	return stream{all: "."}
}

// filtered is what a filter makes of its input; what is no filter prints
// something of its own.
func (c *call) filtered() stream {
	out := c.in.opaque()
	if c.subs.fetched && len(c.in.text) == 0 {
		out.fetched = true
	}
	switch c.name {
	case "base64", "base32", "gbase64":
		if c.has("dD", "--decode") {
			return decoded(c.in, unbase64)
		}
	case "xxd":
		if c.has("r", "--revert") {
			return decoded(c.in, unhex)
		}
	case "openssl":
		out.decoded = slices.Contains(c.args, "-d")
	case "rev":
		return decoded(c.in, reversed)
	case "tr":
		out.decoded = len(c.args) > 1 && !strings.HasPrefix(c.args[0], "-") && (len(c.args[0]) > 4 || len(c.args[0]) == 3 && c.args[0][1] == '-')
	case "gunzip", "zcat", "uudecode", "unxz", "bunzip2":
		out.decoded = true
	case "python", "python3", "perl", "ruby":
		out.decoded = strings.Contains(strings.Join(c.args, " "), "pack(") || strings.Contains(strings.Join(c.args, " "), "b64decode")
	case "awk", "grep", "egrep", "rg":
		// Picks some of them out, so it is not all any more.
		out.ids = c.in.ids && c.name == "awk" && slices.ContainsFunc(c.operands("-F", "-v"), takesAll)
	case "sed", "cut", "head", "tail", "sort", "uniq", "gzip", "bzip2", "xz", "gpg", "jq", "xargs", "nl", "fold", "strings", "od", "hexdump", "sudo", "paste", "iconv":
	default:
		return stream{}
	}
	return out
}

// takesAll is an awk program without a pattern.
func takesAll(program string) bool { return strings.HasPrefix(strings.TrimSpace(program), "{") }

func decoded(in stream, how func(string) (string, bool)) stream {
	out := in.opaque()
	out.decoded = true
	if in.known {
		out.text, out.known = how(strings.TrimSpace(in.text))
	}
	return out
}

func unbase64(s string) (string, bool) {
	s = strings.Join(strings.Fields(s), "")
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return string(b), err == nil
}

func unhex(s string) (string, bool) {
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	return string(b), err == nil
}

func reversed(s string) (string, bool) {
	r := []rune(s)
	slices.Reverse(r)
	return string(r), true
}
