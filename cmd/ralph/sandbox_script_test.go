package main_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-loop/ralph/internal/testsupport/modeltest"
)

// outside is what a script has beyond the sandbox.
type outside struct {
	t     *testing.T
	came  atomic.Int32
	model *modeltest.Server

	company *company
}

type outsideKey struct{}

// listener counts who comes, no matter what they want.
func listener(ts *testscript.TestScript, neg bool, args []string) {
	out := ts.Value(outsideKey{}).(*outside)
	if len(args) > 1 || neg && len(args) == 0 {
		ts.Fatalf("usage: listener [HOST|N]")
	}
	host := "127.0.0.1"
	if len(args) == 1 && strings.Contains(args[0], ".") {
		host, args = args[0], nil
	}
	if len(args) == 1 {
		if came := strconv.Itoa(int(out.came.Load())); (came == args[0]) == neg {
			ts.Fatalf("%s came", came)
		}
		return
	}
	l, err := net.Listen("tcp", host+":0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	ts.Setenv("PORT", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			out.came.Add(1)
			_ = conn.Close()
		}
	}()
	ts.Setenv("LISTENER", l.Addr().String())
}

// model answers every request; with -refuse it refuses every key. Asked for afterwards, it says whether all
// came with that key, and for which models, in their order.
func model(ts *testscript.TestScript, neg bool, args []string) {
	out := ts.Value(outsideKey{}).(*outside)
	if neg {
		ts.Fatalf("usage: model [-refuse | KEY [MODEL...]]")
	}
	if len(args) == 0 || args[0] == "-refuse" {
		var script []modeltest.Answer
		if len(args) > 0 {
			script = []modeltest.Answer{{Status: http.StatusUnauthorized, Times: modeltest.Always}}
		}
		out.model = modeltest.Start(out.t, script...)
		ts.Setenv("MODEL", out.model.URL)
		return
	}
	asked := out.model.Requests()
	if len(asked) == 0 {
		ts.Fatalf("no request reached the model")
	}
	var models []string
	for _, request := range asked {
		models = append(models, request.Model)
		if request.Key() != args[0] {
			ts.Fatalf("%s %s came with the key %q", request.Method, request.Path, request.Key())
		}
	}
	if len(args) > 1 && !slices.Equal(models, args[1:]) {
		ts.Fatalf("asked for were %q", models)
	}
}

// ask is a program that scripts have: "ask tcp ADDRESS" connects, "ask post URL
// KEY [MODEL [stream]]" sends a question to a model. It prints the answer.
func ask() {
	if os.Args[1] == "tcp" {
		conn, err := net.DialTimeout("tcp", os.Args[2], 5*time.Second)
		fmt.Println("tcp", err == nil)
		if err == nil {
			_, _ = io.Copy(io.Discard, conn)
		}
		return
	}
	model := "claude-sonnet-4-6"
	if len(os.Args) > 4 {
		model = os.Args[4]
	}
	request, err := http.NewRequest(http.MethodPost, os.Args[2]+"/v1/messages",
		strings.NewReader(`{"model":"`+model+`","stream":`+strconv.FormatBool(len(os.Args) > 5)+`,"max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`))
	if err == nil {
		request.Header.Set("X-Api-Key", os.Args[3])
		request.Header.Set("Content-Type", "application/json")
		var answer *http.Response
		if answer, err = http.DefaultClient.Do(request); err == nil {
			text, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			fmt.Println(answer.StatusCode, string(text))
		}
	}
	if err != nil {
		fmt.Println(err)
	}
}
