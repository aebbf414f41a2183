package main_test

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ralph-loop/ralph/internal/attest"
	"github.com/ralph-loop/ralph/internal/testsupport/sigstoretest"
)

// signing gives jobs an OIDC identity, that of a workflow, and a sigstore that takes it.
// What it signs is trusted by root.json. Here: it is the sigstore of the GitHub that the last event was on.
func signing(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: sigstore WORKFLOW@REF [here]")
	}
	job, err := attest.Expected("https://github.com/"+shop+"/.github/workflows/"+args[0], attest.GitHub, "")
	ts.Check(err)
	if len(args) > 1 {
		server := ts.Getenv("GITHUB_SERVER_URL")
		job.Identity, job.Issuer, job.Repository = server+"/"+shop+"/.github/workflows/"+args[0], server+"/_services/token", server+"/"+shop
		job.Caller = job.Identity
	}
	out := ts.Value(outsideKey{}).(*outside)
	if out.sigstore == nil {
		out.sigstore, err = sigstoretest.New(job, time.Now)
		ts.Check(err)
		server := httptest.NewServer(out.sigstore)
		ts.Defer(server.Close)
		for _, name := range []string{"SIGSTORE_FULCIO_URL", "SIGSTORE_REKOR_URL"} {
			ts.Setenv(name, server.URL)
		}
		ts.Setenv("ACTIONS_ID_TOKEN_REQUEST_URL", server.URL+"/token?v=2")
		ts.Setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", sigstoretest.Bearer)
		root, err := out.sigstore.Root()
		ts.Check(err)
		text, err := json.Marshal(root)
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs("root.json"), text, 0o644))
		ts.Setenv("SIGSTORE_TRUSTED_ROOT", ts.MkAbs("root.json"))
	}
	out.sigstore.Job = job
}
