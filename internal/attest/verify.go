package attest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Signer is the job that a certificate names.
type Signer struct {
	Identity   string // the workflow: https://github.com/OWNER/REPO/.github/workflows/FILE@REF
	Issuer     string // the OIDC issuer of the identity
	Repository string // where the job ran: https://github.com/OWNER/REPO
	Caller     string // the workflow that was started there, and may have called Identity
}

// GitHub is the issuer for jobs on github.com.
const GitHub = "https://token.actions.githubusercontent.com"

// Expected returns the signer for an identity. A workflow that other repositories call has
// the same identity there, so the repository is given separately. If it is empty, it is
// the workflow's own, and no other workflow may have called it.
func Expected(identity, issuer, repository string) (Signer, error) {
	parts := strings.SplitN(identity, "/", 6)
	if len(parts) < 6 || parts[0] != "https:" || parts[1] != "" || !strings.Contains(parts[5], "@") {
		return Signer{}, fmt.Errorf("the identity %q is no workflow with a ref", identity)
	}
	own, caller := strings.Join(parts[3:5], "/"), ""
	if repository == "" || repository == own {
		repository, caller = own, identity
	}
	return Signer{Identity: identity, Issuer: issuer, Repository: "https://" + parts[2] + "/" + repository, Caller: caller}, nil
}

// Signed is a verified statement.
type Signed struct {
	Statement Statement
	At        time.Time // when the log added it
	Signer    Signer
	Key       *ecdsa.PublicKey
}

// Largest limits the size of a bundle.
const Largest = 64 << 20

// Verify returns the statement of a bundle if want signed it while its certificate was
// valid, as a trusted log promises.
func Verify(data []byte, root Root, want Signer) (s Signed, err error) {
	s, err = verify(data, root)
	if err == nil {
		err = s.Signer.differs(want)
	}
	if err != nil {
		return Signed{}, err
	}
	return s, nil
}

func verify(data []byte, root Root) (s Signed, err error) {
	var b Bundle
	if err := json.Unmarshal(data, &b); err != nil {
		return s, fmt.Errorf("read the bundle: %w", err)
	}
	leaf, err := b.certificate()
	if err != nil {
		return s, err
	}
	entry, err := b.logged(leaf)
	if err != nil {
		return s, err
	}
	if s.At, err = root.promised(entry); err != nil {
		return s, err
	}
	if err := root.vouches(leaf, s.At); err != nil {
		return s, err
	}
	if s.Key, err = signed(leaf, b.Envelope); err != nil {
		return s, err
	}
	if s.Signer, err = named(leaf); err != nil {
		return s, err
	}
	err = json.Unmarshal(b.Envelope.Payload, &s.Statement)
	if err == nil && (b.Envelope.PayloadType != PayloadType || s.Statement.Type != statementType) {
		err = errors.New("it is no in-toto statement of version 1")
	}
	return s, err
}

func (s Signer) differs(want Signer) error {
	for _, field := range []struct{ name, is, want string }{
		{"identity", s.Identity, want.Identity},
		{"issuer", s.Issuer, want.Issuer},
		{"repository", s.Repository, want.Repository},
		{"caller", s.Caller, want.Caller},
	} {
		if field.is != field.want || field.want == "" {
			return fmt.Errorf("it is signed by another %s: %q, want %q", field.name, field.is, field.want)
		}
	}
	return nil
}

// certificate returns the job's certificate.
func (b Bundle) certificate() (*x509.Certificate, error) {
	if b.Material.Certificate == nil {
		return nil, errors.New("it has no certificate of a job")
	}
	leaf, err := x509.ParseCertificate(b.Material.Certificate.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read its certificate: %w", err)
	}
	return leaf, nil
}

func signed(leaf *x509.Certificate, e Envelope) (*ecdsa.PublicKey, error) {
	key, is := leaf.PublicKey.(*ecdsa.PublicKey)
	if !is || len(e.Signatures) != 1 {
		return nil, errors.New("it is not signed by one ECDSA key")
	}
	digest := sha256.Sum256(PAE(e.PayloadType, e.Payload))
	if !ecdsa.VerifyASN1(key, digest[:], e.Signatures[0].Sig) {
		return nil, errors.New("its signature does not hold: something in it was changed")
	}
	return key, nil
}

// body is the body of an entry of kind dsse 0.0.1 or intoto 0.0.2.
type body struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       struct {
		PayloadHash hash `json:"payloadHash"` // dsse
		Signatures  []struct {
			Signature string `json:"signature"`
			Verifier  []byte `json:"verifier"`
		} `json:"signatures"`
		Content struct { // intoto
			PayloadHash hash `json:"payloadHash"`
			Envelope    struct {
				Signatures []struct {
					Sig       []byte `json:"sig"` // in base64 once more
					PublicKey []byte `json:"publicKey"`
				} `json:"signatures"`
			} `json:"envelope"`
		} `json:"content"`
	} `json:"spec"`
}

type hash struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"value"`
}

// logged returns the log's entry if it is of this envelope, signature and certificate.
// Otherwise a bundle could have the time of another signature.
func (b Bundle) logged(leaf *x509.Certificate) (entry LogEntry, err error) {
	if len(b.Material.Entries) != 1 || len(b.Envelope.Signatures) != 1 {
		return entry, errors.New("it has no entry of a log, so its time is not known")
	}
	entry = b.Material.Entries[0]
	var logged body
	if err := json.Unmarshal(entry.Body, &logged); err != nil {
		return entry, fmt.Errorf("read the log's entry: %w", err)
	}
	var sum hash
	var signature string
	var verifier []byte
	switch spec := logged.Spec; {
	case logged.Kind == "dsse" && logged.APIVersion == "0.0.1" && len(spec.Signatures) == 1:
		sum, signature, verifier = spec.PayloadHash, spec.Signatures[0].Signature, spec.Signatures[0].Verifier
	case logged.Kind == "intoto" && logged.APIVersion == "0.0.2" && len(spec.Content.Envelope.Signatures) == 1:
		sum, signature, verifier = spec.Content.PayloadHash, string(spec.Content.Envelope.Signatures[0].Sig), spec.Content.Envelope.Signatures[0].PublicKey
	default:
		return entry, fmt.Errorf("the log's entry is %s %s, which is not known here", logged.Kind, logged.APIVersion)
	}
	digest := sha256.Sum256(b.Envelope.Payload)
	block, _ := pem.Decode(verifier)
	if sum != (hash{"sha256", hex.EncodeToString(digest[:])}) || block == nil || !bytes.Equal(block.Bytes, leaf.Raw) ||
		signature != base64.StdEncoding.EncodeToString(b.Envelope.Signatures[0].Sig) {
		return entry, errors.New("the log's entry is of something else")
	}
	return entry, nil
}

// promised returns when a trusted log added an entry.
func (r Root) promised(e LogEntry) (at time.Time, err error) {
	digest := sha256.Sum256(e.Promised())
	at = time.Unix(e.Time, 0).UTC()
	for _, log := range r.Logs {
		if !bytes.Equal(log.ID.KeyID, e.LogID.KeyID) || !log.Key.Valid.has(at) {
			continue
		}
		key, err := x509.ParsePKIXPublicKey(log.Key.Bytes)
		if err != nil {
			return at, fmt.Errorf("read the key of a log: %w", err)
		}
		if key, is := key.(*ecdsa.PublicKey); is && ecdsa.VerifyASN1(key, digest[:], e.Promise.Timestamp) {
			return at, nil
		}
	}
	return at, errors.New("no trusted log has promised its entry")
}

// vouches verifies the certificate at the time of the signature.
func (r Root) vouches(leaf *x509.Certificate, at time.Time) error {
	refused := errors.New("no trusted authority was valid then")
	for _, authority := range r.Authorities {
		if !authority.Valid.has(at) {
			continue
		}
		options := x509.VerifyOptions{
			Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool(), CurrentTime: at,
			KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning},
		}
		for i, raw := range authority.Chain.Certificates {
			certificate, err := x509.ParseCertificate(raw.Bytes)
			if err != nil {
				return fmt.Errorf("read a trusted authority: %w", err)
			}
			if options.Intermediates.AddCert(certificate); i == len(authority.Chain.Certificates)-1 {
				options.Roots.AddCert(certificate)
			}
		}
		if _, refused = leaf.Verify(options); refused == nil {
			return nil
		}
	}
	return fmt.Errorf("its certificate does not hold at %s: %w", at.Format(time.RFC3339), refused)
}

// The extensions with which Fulcio describes the owner of a certificate.
var (
	issuerOf     = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 8}
	identityOf   = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 9}
	repositoryOf = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 12}
	callerOf     = asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57264, 1, 18}
)

// named returns the signer of a certificate. Its URI drops a "#" at the end, which a branch's
// name may have, so the identity is taken from the extension.
func named(leaf *x509.Certificate) (s Signer, err error) {
	if len(leaf.URIs) != 1 || len(leaf.EmailAddresses)+len(leaf.DNSNames)+len(leaf.IPAddresses) > 0 {
		return s, errors.New("its certificate is not for one workflow")
	}
	for _, extension := range leaf.Extensions {
		var to *string
		switch {
		case extension.Id.Equal(issuerOf):
			to = &s.Issuer
		case extension.Id.Equal(identityOf):
			to = &s.Identity
		case extension.Id.Equal(repositoryOf):
			to = &s.Repository
		case extension.Id.Equal(callerOf):
			to = &s.Caller
		default:
			continue
		}
		if rest, err := asn1.Unmarshal(extension.Value, to); err != nil || len(rest) > 0 {
			return s, errors.New("its certificate has an extension that cannot be read")
		}
	}
	if uri, err := url.Parse(s.Identity); err != nil || uri.String() != leaf.URIs[0].String() {
		return s, fmt.Errorf("its certificate is for %q and for another identity, %q", leaf.URIs[0], s.Identity)
	}
	return s, nil
}
