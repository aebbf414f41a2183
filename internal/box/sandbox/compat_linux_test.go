package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-loop/ralph/internal/box/sandbox"
	"github.com/ralph-loop/ralph/internal/lib/process"
	"github.com/ralph-loop/ralph/internal/testsupport/short"
)

// use is a script, and what its output ends with.
type use struct{ name, needs, script, want string }

// legitimate is what an agent's day is made of. A row whose programs this machine
// has not is left out of the table.
var legitimate = []use{
	{"shell", "bash", `set -e; cat <(echo a | tr a b); (sleep 0 & wait); echo done > f; mkfifo p; (echo x > p) & cat p; time -p true 2>/dev/null; echo ok`, "ok"},
	{"git commits", "git", `set -e; git init -q r; cd r; git config user.email a@example.org; git config user.name a; echo x > f; git add f; git commit -qm x; git checkout -qb b; git gc -q; cd ..; git clone -q r s; git -C s log --oneline | wc -l`, "1"},
	{"node serves and fetches", "node", `cat > s.mjs <<'E'
import http from 'node:http'
const s = http.createServer((q, a) => a.end('hi ' + q.url)).listen(0, async () => {
  const r = await fetch('http://localhost:' + s.address().port + '/x')
  console.log(await r.text()); s.close()
})
E
node s.mjs`, "hi /x"},
	{"node's children and workers", "node", `node -e "
const {fork,execFileSync}=require('child_process'),{Worker}=require('worker_threads')
console.log(execFileSync('echo',['a']).toString().trim())
new Worker('require(\"worker_threads\").parentPort.postMessage(1)',{eval:true}).on('message',()=>console.log('ok'))"`, "ok"},
	{"python's locks and pools", "python3", `cat > m.py <<'E'
import multiprocessing as m, threading, tempfile, socket
def f(x): return x * x
if __name__ == "__main__":
    l = m.Lock(); q = m.Queue(); q.put(1); assert q.get() == 1
    with l, m.Pool(2) as p: assert p.map(f, [1, 2]) == [1, 4]
    with m.Manager() as g: d = g.dict(); d["a"] = 1; assert d["a"] == 1
    a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
    print("ok")
E
/usr/bin/python3 m.py`, "ok"},
	{"python's asyncio", "python3", `cat > a.py <<'E'
import asyncio
async def main():
    async def on(r, w): w.write(await r.read(2)); await w.drain(); w.close()
    s = await asyncio.start_server(on, "127.0.0.1", 0)
    r, w = await asyncio.open_connection(*s.sockets[0].getsockname())
    w.write(b"ok"); print((await r.read()).decode())
    u = await asyncio.start_unix_server(on, "./sock")
    r, w = await asyncio.open_unix_connection("./sock")
    w.write(b"ok"); print((await r.read()).decode())
asyncio.run(main())
E
/usr/bin/python3 a.py`, "ok"},
	{"a terminal of its own", "python3", `/usr/bin/python3 -c 'import pty,os; pty.spawn(["sh","-c","tty -s && stty size >/dev/null && echo ok"])' | tr -d '\r'`, "ok"},
	{"a C program", "gcc", `printf '#include <stdio.h>\n#include <pthread.h>\nvoid*f(void*x){puts("ok");return x;}int main(){pthread_t t;pthread_create(&t,0,f,0);pthread_join(t,0);}' > a.c && gcc -pthread -O2 -o a a.c && ./a`, "ok"},
	{"go test with httptest", "go", `mkdir g; cd g; cat > go.mod <<'E'
module example.org/g
go 1.24
E
cat > g_test.go <<'E'
package g
import ("net/http"; "net/http/httptest"; "os"; "testing"; "os/exec"; "net")
func TestServer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) }))
	defer s.Close()
	r, err := http.Get(s.URL)
	if err != nil || r.StatusCode != 204 { t.Fatal(err, r) }
	if err := exec.Command("true").Run(); err != nil { t.Fatal(err) }
	l, err := net.Listen("tcp", os.Getenv("LOOPBACK"))
	if err != nil { t.Fatal(err) }
	if _, err := net.Dial("tcp", l.Addr().String()); err != nil { t.Fatal(err) }
}
E
GOFLAGS=-mod=mod GOTOOLCHAIN=local GOPROXY=off CGO_ENABLED=0 go test -vet=off -count=1 ./... | cut -f1`, "ok"},
	{"go test with the race detector", "gcc go", `mkdir g; cd g; cat > go.mod <<'E'
module example.org/g
go 1.24
E
cat > g_test.go <<'E'
package g
import ("sync"; "testing")
func TestSum(t *testing.T) {
	var all sync.WaitGroup
	n := 0
	for range 2 { all.Add(1); go func() { defer all.Done(); n++ }() }
	all.Wait()
}
E
GOFLAGS=-mod=mod GOTOOLCHAIN=local GOPROXY=off CGO_ENABLED=1 go test -race -vet=off -count=1 ./... 2>&1 | grep -c '^WARNING: DATA RACE'`, "1"},
	{"renames from folder to folder", "sh", `mkdir a b; echo ok > a/f; mv a/f b/g; ln b/g a/h; cat a/h`, "ok"},
	{"its own devices", "sh", `head -c1 /dev/urandom > /dev/null; : > /dev/tty 2>/dev/null; echo x > /dev/stderr 2>/dev/null; cat /dev/fd/0 < /dev/null; echo ok`, "ok"},
}

// compatible runs every row at a level and returns those that are refused.
func compatible(t *testing.T, level sandbox.Level, who user) (refused []string) {
	t.Helper()
	for _, use := range legitimate {
		if !short.Has(string(level) + " " + use.name) {
			continue
		}
		if !slices.ContainsFunc(strings.Fields(use.needs), missing) && !use.works(t, level, who) {
			refused = append(refused, use.name)
		}
	}
	return refused
}

func missing(program string) bool {
	_, err := exec.LookPath(program)
	return err != nil
}

func (u use) works(t *testing.T, level sandbox.Level, who user) bool {
	t.Helper()
	w := testConfig(t, level, who)
	dir, loopback := w.Write[0], "127.0.0.1:0"
	if six() {
		loopback = "[::1]:0"
	}
	c := process.Command{
		Argv: []string{"/bin/bash", "-c", u.script}, Dir: dir,
		Env: []string{
			"PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "TMPDIR=" + dir, "LANG=C.UTF-8", "LOOPBACK=" + loopback,
			"GOCACHE=" + filepath.Join(dir, "cache"), "GOPATH=" + filepath.Join(dir, "go"),
		},
	}
	if strings.HasSuffix(u.needs, "go") { // the standard library need not be built anew for each level
		cache := goCache(t, who)
		w.Write = append(w.Write, cache)
		c.Env = append(c.Env, "GOCACHE="+cache)
	}
	out, res := inside(t, w, c)
	got := strings.TrimSpace(out)
	ok := res.Exit == 0 && strings.HasSuffix(got, u.want)
	if !ok {
		t.Logf("%s at level %s: exit %d\n%s", u.name, level, res.Exit, got)
	}
	return ok
}

// goCache stays from run to run: it takes half a minute to fill, and nothing of
// it is proven by filling it again.
func goCache(tb testing.TB, who user) string {
	tb.Helper()
	owner := max(who.uid, who.outside)
	dir := filepath.Join(os.TempDir(), "sandbox-test-go-"+strconv.Itoa(owner))
	if err := os.Mkdir(dir, 0o755); err == nil && os.Geteuid() == 0 {
		err = os.Chown(dir, owner, owner)
		if err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

func TestLegitimateUsesWork(t *testing.T) {
	for _, level := range connected() {
		refused := compatible(t, level, users()[0])
		if len(refused) != 0 {
			t.Errorf("level %s refuses %q", level, refused)
		}
		show(t, fmt.Sprintf("legitimate uses refused at level %s: %d of %d", level, len(refused), len(legitimate)))
	}
}

// show prints for make attack.
func show(t *testing.T, text string) {
	t.Helper()
	if os.Getenv("ATTACK") == "" {
		t.Log("\n" + text)
		return
	}
	fmt.Println(text)
}

// A container that masks parts of /proc forbids another mount of it: then there is no process namespace.
func TestStrongest(t *testing.T) {
	want := map[string]sandbox.Level{
		asOther.name: sandbox.Namespace, asRoot.name: sandbox.Namespace, asDocker.name: sandbox.Notify,
		asOrdinary.name: sandbox.Namespace, asClosed.name: sandbox.Notify, asMasked.name: sandbox.Notify,
	}
	all := users()
	if roomy() {
		all = append(all, asMasked)
	} else {
		for name := range want {
			want[name] = sandbox.Notify
		}
	}
	for _, who := range all {
		var r found
		w := testConfig(t, sandbox.Auto, who)
		who.play(t, &r, "strongest", asJSON(t, order{Sandbox: w}))
		if r.Sandbox.Level != want[who.name] || r.Error != "" {
			t.Errorf("as %s: level %s, want %s: %s", who.name, r.Sandbox.Level, want[who.name], r.Error)
		}
	}
}
