package sigstore_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/ralph-loop/ralph/internal/attest"
	"github.com/ralph-loop/ralph/internal/sigstore"
)

// What a job keeps counts as it was kept, on its ref, by its workflow.
func TestKept(t *testing.T) {
	s, signer, _ := stack(t)
	root, err := s.Root()
	if err != nil {
		t.Fatal(err)
	}
	sign := func(statement []byte, ref string, files map[string][]byte) []byte {
		signed, err := signer.Sign(t.Context(), statement)
		if err != nil {
			t.Fatal(err)
		}
		return seal(t, signed, ref, files)
	}
	statement, err := attest.Keeping(ref)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"journal.jsonl": []byte("{}"), "prd.json": []byte("[]")}
	honest := sign(statement, ref, files)
	other := s.Job
	other.Identity += "2"
	elsewhere := s.Job
	elsewhere.Caller = "https://github.com/octo/greeter/.github/workflows/evil.yml@refs/heads/evil"
	for name, c := range map[string]struct {
		signature []byte
		ref       string
		files     map[string][]byte
		want      attest.Signer
		ok        bool
	}{
		"as it was kept":     {honest, ref, files, s.Job, true},
		"on another ref":     {honest, "refs/ralph/issue-2", files, s.Job, false},
		"by another":         {honest, ref, files, other, false},
		"called by another":  {honest, ref, files, elsewhere, false},
		"not signed":         {nil, ref, files, s.Job, false},
		"a file was changed": {honest, ref, with(files, "prd.json", "[{}]"), s.Job, false},
		"a file was added":   {honest, ref, with(files, "more", ""), s.Job, false},
		"a file is gone":     {honest, ref, map[string][]byte{"prd.json": []byte("[]")}, s.Job, false},
		"signed as something else, such as evidence": {sign([]byte(`{"_type":"https://in-toto.io/Statement/v1","predicateType":"x","predicate":{"ref":"refs/ralph/issue-1"}}`), ref, files), ref, files, s.Job, false},
	} {
		if err := attest.VerifyKept(c.signature, root, c.want, c.ref, c.files); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func with(files map[string][]byte, name, text string) map[string][]byte {
	files = maps.Clone(files)
	files[name] = []byte(text)
	return files
}

func seal(t *testing.T, signed *sigstore.Signed, ref string, files map[string][]byte) []byte {
	t.Helper()
	signature, err := signed.Sign(attest.KeptText(ref, files))
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(attest.Kept{Bundle: signed.Bundle, Signature: signature})
	if err != nil {
		t.Fatal(err)
	}
	return data
}
