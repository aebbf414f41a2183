package evidence

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ralph-loop/ralph/internal/attest"
)

// PredicateType is the type of a signed statement whose predicate is evidence.
const PredicateType = "https://github.com/ralph-loop/ralph/blob/main/docs/proof.md#signed-evidence"

// Statement returns the statement about a run's evidence file, its newest commit and
// that commit's tree. The file is a subject, too, for programs that only look up files.
func Statement(file []byte) ([]byte, error) {
	e, err := Read(file)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(file)
	return attest.Of(PredicateType, json.RawMessage(file),
		attest.Subject{Name: "commit", Digest: map[string]string{"gitCommit": e.Code.Head}},
		attest.Subject{Name: "tree", Digest: map[string]string{"gitTree": e.Code.Tree}},
		attest.Subject{Name: "evidence.json", Digest: map[string]string{"sha256": hex.EncodeToString(sum[:])}})
}

// FromStatement returns the evidence in a statement whose signature was verified.
func FromStatement(s attest.Statement) (Evidence, error) {
	if s.PredicateType != PredicateType {
		return Evidence{}, fmt.Errorf("it says %q, which is no evidence of a run", s.PredicateType)
	}
	e, err := Read(s.Predicate)
	if err == nil && e.Proof.Tree != e.Code.Tree {
		err = errors.New("its proof is of another tree than its newest commit's")
	}
	if err == nil && (s.Digest("gitCommit") != e.Code.Head || s.Digest("gitTree") != e.Code.Tree || e.Code.Head == "" || e.Code.Tree == "") {
		err = errors.New("it is about another commit than its evidence")
	}
	return e, err
}
