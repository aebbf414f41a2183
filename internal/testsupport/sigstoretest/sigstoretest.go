// Package sigstoretest is a sigstore for tests: the token of a job, an authority for
// certificates and a transparency log, in one handler. What it signs is as real as that
// of the public one, with keys of its own.
package sigstoretest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ralph-loop/ralph/internal/attest"
)

// Stack is a sigstore. Its times are those of Now.
type Stack struct {
	Now        func() time.Time
	Job        attest.Signer // who asks
	Visibility string        // of the job's repository

	authority, log *ecdsa.PrivateKey
	root           *x509.Certificate
	index          atomic.Int64
}

// New returns a stack for the jobs of a workflow in a public repository.
func New(job attest.Signer, now func() time.Time) (*Stack, error) {
	s := &Stack{Now: now, Job: job, Visibility: "public"}
	var err error
	if s.authority, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	if s.log, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "sigstoretest"}, NotBefore: now().AddDate(-1, 0, 0), NotAfter: now().AddDate(9, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, s.authority.Public(), s.authority)
	if err != nil {
		return nil, err
	}
	s.root, err = x509.ParseCertificate(der)
	return s, err
}

// Root returns what those who trust this stack trust.
func (s *Stack) Root() (attest.Root, error) {
	key, err := x509.MarshalPKIXPublicKey(s.log.Public())
	if err != nil {
		return attest.Root{}, err
	}
	log := attest.Log{ID: attest.LogID{KeyID: s.logID(key)}}
	log.Key.Bytes, log.Key.Valid.Start = key, s.root.NotBefore
	chain := attest.Chain{Certificates: []attest.Raw{{Bytes: s.root.Raw}}}
	return attest.Root{Authorities: []attest.Authority{{Chain: chain, Valid: attest.Period{Start: s.root.NotBefore}}}, Logs: []attest.Log{log}}, nil
}

func (*Stack) logID(key []byte) []byte {
	sum := sha256.Sum256(key)
	return sum[:]
}

// Sign returns a bundle with a statement, signed at some time with a certificate for signer.
func (s *Stack) Sign(statement []byte, signer attest.Signer, at time.Time) (attest.Bundle, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return attest.Bundle{}, err
	}
	leaf, err := s.Certify(&key.PublicKey, signer)
	if err != nil {
		return attest.Bundle{}, err
	}
	digest := sha256.Sum256(attest.PAE(attest.PayloadType, statement))
	sig, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		return attest.Bundle{}, err
	}
	b := attest.Bundle{MediaType: attest.MediaType, Envelope: attest.Envelope{Payload: statement, PayloadType: attest.PayloadType, Signatures: []attest.Signature{{Sig: sig}}}}
	entry, err := s.Enter(b.Envelope, leaf, at)
	b.Material = attest.Material{Certificate: &attest.Raw{Bytes: leaf}, Entries: []attest.LogEntry{entry}}
	return b, err
}

// Certify returns a certificate of ten minutes, as Fulcio makes it.
func (s *Stack) Certify(key *ecdsa.PublicKey, job attest.Signer) ([]byte, error) {
	identity, err := url.Parse(job.Identity)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: s.Now(), NotAfter: s.Now().Add(10 * time.Minute),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}, URIs: []*url.URL{identity},
	}
	for number, value := range map[int]string{8: job.Issuer, 9: job.Identity, 12: job.Repository, 18: job.Caller} {
		if value == "" {
			continue
		}
		text, err := asn1.MarshalWithParams(value, "utf8")
		if err != nil {
			return nil, err
		}
		template.ExtraExtensions = append(template.ExtraExtensions, pkix.Extension{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, number}, Value: text})
	}
	return x509.CreateCertificate(rand.Reader, template, s.root, key, s.authority)
}

// Enter returns the log's entry of an envelope, with its promise.
func (s *Stack) Enter(e attest.Envelope, leaf []byte, at time.Time) (entry attest.LogEntry, err error) {
	sum := sha256.Sum256(e.Payload)
	type digest struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"value"`
	}
	envelope, err := json.Marshal(e)
	if err != nil {
		return entry, err
	}
	whole := sha256.Sum256(envelope)
	body, err := json.Marshal(map[string]any{"apiVersion": "0.0.1", "kind": "dsse", "spec": map[string]any{
		"envelopeHash": digest{"sha256", hex.EncodeToString(whole[:])}, "payloadHash": digest{"sha256", hex.EncodeToString(sum[:])},
		"signatures": []map[string]any{{
			"signature": base64.StdEncoding.EncodeToString(e.Signatures[0].Sig),
			"verifier":  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf}),
		}},
	}})
	if err != nil {
		return entry, err
	}
	key, err := x509.MarshalPKIXPublicKey(s.log.Public())
	if err != nil {
		return entry, err
	}
	entry = attest.LogEntry{LogIndex: s.index.Add(1), LogID: attest.LogID{KeyID: s.logID(key)}, Kind: attest.Kind{Kind: "dsse", Version: "0.0.1"}, Time: at.Unix(), Body: body}
	promise := sha256.Sum256(entry.Promised())
	entry.Promise.Timestamp, err = ecdsa.SignASN1(rand.Reader, s.log, promise[:])
	return entry, err
}

// ServeHTTP answers a job's request for its token, Fulcio's clients and Rekor's.
func (s *Stack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var answer any
	var err error
	switch r.URL.Path {
	case "/token":
		answer, err = s.token(r)
	case "/api/v2/signingCert":
		answer, err = s.certificate(r)
	case "/api/v1/log/entries":
		answer, err = s.entry(r)
		w.WriteHeader(http.StatusCreated)
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(answer) // a client that is gone needs no answer
}

// Bearer opens the job's token.
const Bearer = "job-request-token"

func (s *Stack) token(r *http.Request) (any, error) {
	if r.Header.Get("Authorization") != "Bearer "+Bearer || r.URL.Query().Get("audience") != "sigstore" {
		return nil, errors.New("no job asks so")
	}
	claims, err := json.Marshal(map[string]string{
		"sub": "repo:job", "repository_visibility": s.Visibility, "iss": s.Job.Issuer,
		"job_workflow_ref": place(s.Job.Identity), "repository": place(s.Job.Repository),
		"workflow_ref": place(s.Job.Caller),
	})
	return map[string]string{"value": "e30." + base64.RawURLEncoding.EncodeToString(claims) + ".c2ln"}, err
}

// place returns an address on its GitHub.
func place(address string) string {
	parts := strings.SplitN(address, "/", 4)
	return parts[len(parts)-1]
}

func (s *Stack) certificate(r *http.Request) (any, error) {
	var asked struct {
		PublicKeyRequest struct {
			PublicKey         struct{ Content string }
			ProofOfPossession []byte
		}
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, attest.Largest)).Decode(&asked); err != nil {
		return nil, err
	}
	block, _ := pem.Decode([]byte(asked.PublicKeyRequest.PublicKey.Content))
	if block == nil || !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer e30.") {
		return nil, errors.New("no key, or no token")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	public, is := key.(*ecdsa.PublicKey)
	subject := sha256.Sum256([]byte("repo:job"))
	if !is || !ecdsa.VerifyASN1(public, subject[:], asked.PublicKeyRequest.ProofOfPossession) {
		return nil, errors.New("the key is not the asker's")
	}
	leaf, err := s.Certify(public, s.Job)
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf}))
	return map[string]any{"signedCertificateEmbeddedSct": map[string]any{"chain": map[string]any{"certificates": []string{text}}}}, err
}

func (s *Stack) entry(r *http.Request) (any, error) {
	var asked struct {
		Kind string
		Spec struct {
			ProposedContent struct {
				Envelope  string
				Verifiers [][]byte
			}
		}
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, attest.Largest)).Decode(&asked); err != nil {
		return nil, err
	}
	var envelope attest.Envelope
	if err := json.Unmarshal([]byte(asked.Spec.ProposedContent.Envelope), &envelope); err != nil {
		return nil, err
	}
	if asked.Kind != "dsse" || len(asked.Spec.ProposedContent.Verifiers) != 1 || len(envelope.Signatures) != 1 {
		return nil, errors.New("no envelope of one signature")
	}
	block, _ := pem.Decode(asked.Spec.ProposedContent.Verifiers[0])
	if block == nil {
		return nil, errors.New("no certificate")
	}
	entry, err := s.Enter(envelope, block.Bytes, s.Now())
	return map[string]any{"0123": map[string]any{
		"body": entry.Body, "integratedTime": entry.Time, "logID": hex.EncodeToString(entry.LogID.KeyID), "logIndex": entry.LogIndex,
		"verification": map[string]any{"signedEntryTimestamp": entry.Promise.Timestamp, "inclusionProof": map[string]any{"logIndex": 0, "treeSize": 1, "rootHash": "", "hashes": []string{}, "checkpoint": "c"}},
	}}, err
}
