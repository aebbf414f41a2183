// Package attest writes in-toto statements and verifies those that a job has signed
// through sigstore. It takes a bundle, the trusted keys and the expected signer, and
// returns the statement. It opens no file and makes no request.
//
// It accepts only bundles as GitHub's and ralph's jobs write them: one DSSE envelope,
// one certificate of a job, one entry of a transparency log. It uses the standard
// library's cryptography (docs/dev/house.md says why).
package attest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// statementType is the type of in-toto's statements, and PayloadType that of an envelope with one.
const (
	statementType = "https://in-toto.io/Statement/v1"
	PayloadType   = "application/vnd.in-toto+json"
	MediaType     = "application/vnd.dev.sigstore.bundle.v0.3+json"
)

// Statement is an in-toto statement: a predicate about subjects.
type Statement struct {
	Type          string          `json:"_type"`
	Subject       []Subject       `json:"subject"`
	PredicateType string          `json:"predicateType"`
	Predicate     json.RawMessage `json:"predicate"`
}

// Subject is the subject of a statement, by its digests.
type Subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// Of returns the statement about subjects as it is signed.
func Of(predicateType string, predicate any, subjects ...Subject) ([]byte, error) {
	said, err := json.Marshal(predicate)
	if err != nil {
		return nil, fmt.Errorf("write the statement: %w", err)
	}
	return json.Marshal(Statement{statementType, subjects, predicateType, said})
}

// Digest returns the statement's digest of an algorithm, or "" if it has none or several.
func (s Statement) Digest(algorithm string) string {
	found := ""
	for _, subject := range s.Subject {
		if digest := subject.Digest[algorithm]; digest != "" {
			if found != "" {
				return ""
			}
			found = digest
		}
	}
	return found
}

// Bundle is a signed statement with all that is needed to verify it offline.
type Bundle struct {
	MediaType string   `json:"mediaType"`
	Material  Material `json:"verificationMaterial"`
	Envelope  Envelope `json:"dsseEnvelope"`
}

// Material holds what is needed to verify a signature.
type Material struct {
	Certificate *Raw       `json:"certificate,omitempty"`
	Entries     []LogEntry `json:"tlogEntries"`
}

// Raw is a certificate or a key, in DER.
type Raw struct {
	Bytes []byte `json:"rawBytes"`
}

// Chain is a list of certificates.
type Chain struct {
	Certificates []Raw `json:"certificates"`
}

// Envelope is a signed payload in DSSE's format.
type Envelope struct {
	Payload     []byte      `json:"payload"`
	PayloadType string      `json:"payloadType"`
	Signatures  []Signature `json:"signatures"`
}

// Signature is a signature of an envelope.
type Signature struct {
	Sig   []byte `json:"sig"`
	KeyID string `json:"keyid"`
}

// LogEntry is the entry of a signature in the transparency log, with the log's promise.
type LogEntry struct {
	LogIndex int64           `json:"logIndex,string"`
	LogID    LogID           `json:"logId"`
	Kind     Kind            `json:"kindVersion"`
	Time     int64           `json:"integratedTime,string"`
	Promise  Promise         `json:"inclusionPromise"`
	Proof    json.RawMessage `json:"inclusionProof,omitempty"`
	Body     []byte          `json:"canonicalizedBody"`
}

// LogID is the SHA-256 of a log's key.
type LogID struct {
	KeyID []byte `json:"keyId"`
}

// Kind is the kind of an entry.
type Kind struct {
	Kind    string `json:"kind"`
	Version string `json:"version"`
}

// Promise is the log's signature of an entry and its time.
type Promise struct {
	Timestamp []byte `json:"signedEntryTimestamp"`
}

// PAE returns the bytes that DSSE signs for a payload.
func PAE(payloadType string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// Promised returns the part of an entry that a log signs. The order of fields is that of RFC 8785.
func (e LogEntry) Promised() []byte {
	text, _ := json.Marshal(struct { // texts and numbers have no error
		Body     []byte `json:"body"`
		Time     int64  `json:"integratedTime"`
		LogID    string `json:"logID"`
		LogIndex int64  `json:"logIndex"`
	}{e.Body, e.Time, fmt.Sprintf("%x", e.LogID.KeyID), e.LogIndex})
	return text
}

// Root holds the trusted certificate authorities and logs.
type Root struct {
	Authorities []Authority `json:"certificateAuthorities"`
	Logs        []Log       `json:"tlogs"`
}

// Authority is a certificate authority. Its root is the last certificate of the chain.
type Authority struct {
	Chain Chain  `json:"certChain"`
	Valid Period `json:"validFor"`
}

// Log is a transparency log.
type Log struct {
	ID  LogID `json:"logId"`
	Key struct {
		Bytes []byte `json:"rawBytes"`
		Valid Period `json:"validFor"`
	} `json:"publicKey"`
}

// Period is the time from Start to End. A zero End is open.
type Period struct {
	Start time.Time  `json:"start"`
	End   *time.Time `json:"end,omitempty"`
}

func (p Period) has(at time.Time) bool {
	return !at.Before(p.Start) && (p.End == nil || !at.After(*p.End))
}

// ReadRoot reads the output of `gh attestation trusted-root`.
func ReadRoot(data []byte) (all Root, err error) {
	for decoder := json.NewDecoder(bytes.NewReader(data)); decoder.More(); {
		var one Root
		if err := decoder.Decode(&one); err != nil {
			return all, fmt.Errorf("read the trusted root: %w", err)
		}
		all.Authorities, all.Logs = append(all.Authorities, one.Authorities...), append(all.Logs, one.Logs...)
	}
	if len(all.Authorities) == 0 || len(all.Logs) == 0 {
		return all, errors.New("the trusted root names no certificate authority, or no log")
	}
	return all, nil
}

// keptType is the type of the statement that lets a job's key sign all that it keeps on a ref.
const keptType = "https://github.com/ralph-loop/ralph/blob/main/docs/proof.md#signed-evidence-kept"

type kept struct {
	Ref string `json:"ref"`
}

// Keeping returns this statement for a ref.
func Keeping(ref string) ([]byte, error) {
	sum := sha256.Sum256([]byte(ref))
	return Of(keptType, kept{ref}, Subject{Name: ref, Digest: map[string]string{"sha256": fmt.Sprintf("%x", sum)}})
}

// Kept is the signature of files that a job keeps on a ref.
type Kept struct {
	Bundle    json.RawMessage `json:"bundle"`
	Signature []byte          `json:"signature"`
}

// KeptText returns the text about the files that is signed.
func KeptText(ref string, files map[string][]byte) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "ralph kept %q\n", ref)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "%x %q\n", sha256.Sum256(files[name]), name)
	}
	return []byte(b.String())
}

// VerifyKept returns an error unless want has signed files for that ref.
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
