package attest

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// keptType is signed once for a ref, and lets the job's key sign all that it keeps there.
const keptType = "https://github.com/ralph-loop/ralph/blob/main/docs/proof.md#signed-evidence-kept"

type kept struct {
	Ref string `json:"ref"`
}

// Keeping is the statement for a ref.
func Keeping(ref string) ([]byte, error) {
	sum := sha256.Sum256([]byte(ref))
	return Of(keptType, kept{ref}, Subject{Name: ref, Digest: map[string]string{"sha256": fmt.Sprintf("%x", sum)}})
}

// Kept is the signature of files that a job keeps on a ref.
type Kept struct {
	Bundle    json.RawMessage `json:"bundle"`
	Signature []byte          `json:"signature"`
}

// KeptText is what is signed of the files.
func KeptText(ref string, files map[string][]byte) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "ralph kept %q\n", ref)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%x %q\n", sha256.Sum256(files[name]), name)
	}
	return []byte(b.String())
}

// VerifyKept tells whether want has signed files for that ref.
func VerifyKept(signature []byte, root Root, want Signer, ref string, files map[string][]byte) error {
	var k Kept
	if err := json.Unmarshal(signature, &k); err != nil {
		return fmt.Errorf("read the signature: %w", err)
	}
	signed, err := Verify(k.Bundle, root, want)
	if err != nil {
		return err
	}
	var said kept
	if err := json.Unmarshal(signed.Statement.Predicate, &said); err != nil || signed.Statement.PredicateType != keptType || said.Ref != ref {
		return errors.New("its key was not to speak for this ref")
	}
	digest := sha256.Sum256(KeptText(ref, files))
	if !ecdsa.VerifyASN1(signed.Key, digest[:], k.Signature) {
		return errors.New("a file was changed, added or taken away")
	}
	return nil
}
