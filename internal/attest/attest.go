// Package attest writes in-toto statements and verifies those that a job has signed
// through sigstore. It takes a bundle, the keys that are trusted and who must have
// signed, and returns the statement. It opens no file and makes no request.
//
// A bundle is taken in the form that GitHub's and ralph's jobs write: one DSSE
// envelope, one certificate of a job, one entry of a transparency log. All else is
// refused. The cryptography is that of the standard library (docs/house.md says why).
package attest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// StatementType is that of in-toto's statements, PayloadType that of an envelope with one.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PayloadType   = "application/vnd.in-toto+json"
	MediaType     = "application/vnd.dev.sigstore.bundle.v0.3+json"
)

// Statement says something, its predicate, about its subjects.
type Statement struct {
	Type          string          `json:"_type"`
	Subject       []Subject       `json:"subject"`
	PredicateType string          `json:"predicateType"`
	Predicate     json.RawMessage `json:"predicate"`
}

// Subject is what a statement is about, by its digests.
type Subject struct {
	Name   string            `json:"name"`
	Digest map[string]string `json:"digest"`
}

// Of is the statement about subjects, as it is signed.
func Of(predicateType string, predicate any, subjects ...Subject) ([]byte, error) {
	said, err := json.Marshal(predicate)
	if err != nil {
		return nil, fmt.Errorf("write the statement: %w", err)
	}
	return json.Marshal(Statement{StatementType, subjects, predicateType, said})
}

// Digest is the statement's only digest of an algorithm; empty: it has none, or several.
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

// Material is what a signature is verified with.
type Material struct {
	Certificate *Raw       `json:"certificate,omitempty"`
	Chain       *Chain     `json:"x509CertificateChain,omitempty"` // before version 0.3; only the first counts
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

// Envelope is a signed payload, as DSSE has it.
type Envelope struct {
	Payload     []byte      `json:"payload"`
	PayloadType string      `json:"payloadType"`
	Signatures  []Signature `json:"signatures"`
}

// Signature is one of an envelope.
type Signature struct {
	Sig   []byte `json:"sig"`
	KeyID string `json:"keyid"`
}

// LogEntry is what the transparency log says of a signature, and its promise.
type LogEntry struct {
	LogIndex int64           `json:"logIndex,string"`
	LogID    LogID           `json:"logId"`
	Kind     Kind            `json:"kindVersion"`
	Time     int64           `json:"integratedTime,string"`
	Promise  Promise         `json:"inclusionPromise"`
	Proof    json.RawMessage `json:"inclusionProof,omitempty"`
	Body     []byte          `json:"canonicalizedBody"`
}

// LogID names a log: the SHA-256 of its key.
type LogID struct {
	KeyID []byte `json:"keyId"`
}

// Kind is that of an entry.
type Kind struct {
	Kind    string `json:"kind"`
	Version string `json:"version"`
}

// Promise is the log's signature of an entry and its time.
type Promise struct {
	Timestamp []byte `json:"signedEntryTimestamp"`
}

// PAE is what DSSE signs of a payload.
func PAE(payloadType string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// Promised is what a log signs of an entry. The fields are in the order that RFC 8785 wants.
func (e LogEntry) Promised() ([]byte, error) {
	return json.Marshal(struct {
		Body     []byte `json:"body"`
		Time     int64  `json:"integratedTime"`
		LogID    string `json:"logID"`
		LogIndex int64  `json:"logIndex"`
	}{e.Body, e.Time, fmt.Sprintf("%x", e.LogID.KeyID), e.LogIndex})
}

// Root is what is trusted: authorities for certificates, and logs.
type Root struct {
	Authorities []Authority `json:"certificateAuthorities"`
	Logs        []Log       `json:"tlogs"`
}

// Authority is a certificate authority: its root is the last of the chain.
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

// Period is a time from Start to End; an End of zero is open.
type Period struct {
	Start time.Time  `json:"start"`
	End   *time.Time `json:"end,omitempty"`
}

func (p Period) has(at time.Time) bool {
	return !at.Before(p.Start) && (p.End == nil || !at.After(*p.End))
}

// ReadRoot reads trusted roots, one or several, as `gh attestation trusted-root` writes them.
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
