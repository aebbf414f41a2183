// Package sigstore signs statements with the identity of a job: it gets the job's token
// from GitHub, a certificate of ten minutes from Fulcio, and an entry in the log Rekor.
// The key is made for one statement, and never leaves the process.
package sigstore

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/attest"
)

// The public services. All can read what they sign.
const (
	PublicFulcio = "https://fulcio.sigstore.dev"
	PublicRekor  = "https://rekor.sigstore.dev"
)

// ErrPrivate is the error of a job in a private repository, which the public log would name.
var ErrPrivate = errors.New("the repository is not public, and the public log would name it")

// Signer signs for a job.
type Signer struct {
	HTTP          http.RoundTripper // nil: the default
	TokenURL      string            // what a job asks for its token
	Token         string            // and with what
	Fulcio, Rekor string
}

// Signed is a bundle with its signing key.
type Signed struct {
	Bundle []byte
	key    *ecdsa.PrivateKey
}

// Sign signs a text with the same key.
func (s Signed) Sign(text []byte) ([]byte, error) { return signature(s.key, text) }

// Sign returns a bundle with a signed statement.
func (s Signer) Sign(ctx context.Context, statement []byte) (*Signed, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	leaf, err := s.certificate(ctx, key)
	if err != nil {
		return nil, err
	}
	sig, err := signature(key, attest.PAE(attest.PayloadType, statement))
	if err != nil {
		return nil, err
	}
	b := attest.Bundle{MediaType: attest.MediaType, Envelope: attest.Envelope{
		Payload: statement, PayloadType: attest.PayloadType, Signatures: []attest.Signature{{Sig: sig}},
	}}
	entry, err := s.log(ctx, b.Envelope, leaf)
	if err != nil {
		return nil, err
	}
	b.Material = attest.Material{Certificate: &attest.Raw{Bytes: leaf.Bytes}, Entries: []attest.LogEntry{entry}}
	bundle, err := json.Marshal(b)
	return &Signed{bundle, key}, err
}

func signature(key *ecdsa.PrivateKey, text []byte) ([]byte, error) {
	digest := sha256.Sum256(text)
	sig, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return sig, nil
}

// claims are the used claims of a job's token, which comes from GitHub.
type claims struct {
	Subject    string `json:"sub"`
	Visibility string `json:"repository_visibility"`
	Issuer     string `json:"iss"`
	Workflow   string `json:"job_workflow_ref"`
	Repository string `json:"repository"`
	Caller     string `json:"workflow_ref"`
}

// Who returns the job as a signer, on the GitHub at server.
func (s Signer) Who(ctx context.Context, server string) (attest.Signer, error) {
	_, c, err := s.identity(ctx)
	if c.Issuer == attest.GitHub {
		server = "https://github.com"
	}
	return attest.Signer{
		Identity: server + "/" + c.Workflow, Issuer: c.Issuer, Repository: server + "/" + c.Repository, Caller: server + "/" + c.Caller,
	}, err
}

func (s Signer) identity(ctx context.Context) (token string, c claims, err error) {
	address, err := url.Parse(s.TokenURL)
	if err != nil {
		return "", c, fmt.Errorf("ask for the job's token: %w", err)
	}
	query := address.Query()
	query.Set("audience", "sigstore")
	address.RawQuery = query.Encode()
	var answer struct{ Value string }
	if err := s.call(ctx, address.String(), s.Token, nil, &answer); err != nil {
		return "", c, fmt.Errorf("ask for the job's token: %w", err)
	}
	parts := strings.Split(answer.Value, ".")
	if len(parts) != 3 {
		return "", c, errors.New("the job's token is none")
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		return "", c, errors.New("the job's token cannot be read")
	}
	if (public(s.Fulcio) || public(s.Rekor)) && c.Visibility != "public" {
		return "", c, ErrPrivate
	}
	return answer.Value, c, nil
}

// public reports whether a service belongs to the public sigstore, in any spelling of its address.
func public(address string) bool {
	at, err := url.Parse(address)
	return err != nil || strings.HasSuffix("."+strings.ToLower(strings.TrimSuffix(at.Hostname(), ".")), ".sigstore.dev")
}

type chain struct {
	Chain struct {
		Certificates []string `json:"certificates"`
	} `json:"chain"`
}

func (s Signer) certificate(ctx context.Context, key *ecdsa.PrivateKey) (*pem.Block, error) {
	token, c, err := s.identity(ctx)
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, fmt.Errorf("write the key: %w", err)
	}
	proof, err := signature(key, []byte(c.Subject))
	if err != nil {
		return nil, err
	}
	asked := map[string]any{"publicKeyRequest": map[string]any{
		"publicKey":         map[string]string{"algorithm": "ECDSA", "content": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))},
		"proofOfPossession": proof,
	}}
	var answer struct {
		Embedded chain `json:"signedCertificateEmbeddedSct"`
		Detached chain `json:"signedCertificateDetachedSct"`
	}
	if err := s.call(ctx, s.Fulcio+"/api/v2/signingCert", token, asked, &answer); err != nil {
		return nil, fmt.Errorf("ask for a certificate: %w", err)
	}
	for _, text := range append(answer.Embedded.Chain.Certificates, answer.Detached.Chain.Certificates...) {
		if leaf, _ := pem.Decode([]byte(text)); leaf != nil { // the first is the job's
			return leaf, nil
		}
	}
	return nil, errors.New("ask for a certificate: the answer has none")
}

// proof is Rekor's proof that the log has an entry.
type proof struct {
	LogIndex   int64    `json:"logIndex"`
	RootHash   string   `json:"rootHash"`
	TreeSize   int64    `json:"treeSize"`
	Hashes     []string `json:"hashes"`
	Checkpoint string   `json:"checkpoint"`
}

func (s Signer) log(ctx context.Context, e attest.Envelope, leaf *pem.Block) (entry attest.LogEntry, err error) {
	text, _ := json.Marshal(e) // texts have no error
	asked := map[string]any{"apiVersion": "0.0.1", "kind": "dsse", "spec": map[string]any{
		"proposedContent": map[string]any{"envelope": string(text), "verifiers": [][]byte{pem.EncodeToMemory(leaf)}},
	}}
	var answer map[string]struct {
		Body         []byte `json:"body"`
		Time         int64  `json:"integratedTime"`
		LogID        string `json:"logID"`
		LogIndex     int64  `json:"logIndex"`
		Verification struct {
			Promise []byte `json:"signedEntryTimestamp"`
			Proof   proof  `json:"inclusionProof"`
		} `json:"verification"`
	}
	if err := s.call(ctx, s.Rekor+"/api/v1/log/entries", "", asked, &answer); err != nil {
		return entry, fmt.Errorf("enter the signature into the log: %w", err)
	}
	for _, made := range answer {
		id, err := hex.DecodeString(made.LogID)
		if err != nil {
			return entry, fmt.Errorf("read the log's answer: %w", err)
		}
		entry = attest.LogEntry{
			LogIndex: made.LogIndex, LogID: attest.LogID{KeyID: id}, Kind: attest.Kind{Kind: "dsse", Version: "0.0.1"},
			Time: made.Time, Promise: attest.Promise{Timestamp: made.Verification.Promise}, Body: made.Body,
		}
		entry.Proof, err = made.Verification.Proof.bundled()
		return entry, err
	}
	return entry, errors.New("enter the signature into the log: the answer has no entry")
}

// bundled returns a proof in the format of bundles, for other programs.
func (p proof) bundled() (json.RawMessage, error) {
	hashes := [][]byte{}
	for _, text := range append(p.Hashes, p.RootHash) {
		hash, err := hex.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("read the log's proof: %w", err)
		}
		hashes = append(hashes, hash)
	}
	last := len(hashes) - 1
	return json.Marshal(map[string]any{
		"logIndex": strconv.FormatInt(p.LogIndex, 10), "treeSize": strconv.FormatInt(p.TreeSize, 10),
		"rootHash": hashes[last], "hashes": hashes[:last], "checkpoint": map[string]string{"envelope": p.Checkpoint},
	})
}

const patience = 20 * time.Second

// call sends a request to a service, with a body by POST. Answers are bounded, and redirects are not followed.
func (s Signer) call(ctx context.Context, address, token string, body, answer any) error {
	method := http.MethodGet
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		method, reader = http.MethodPost, bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, address, reader)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	client := http.Client{Transport: s.HTTP, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(response.Body, attest.Largest))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusCreated {
		return fmt.Errorf("%s answers %s", request.URL.Host, response.Status)
	}
	return json.Unmarshal(text, answer)
}
