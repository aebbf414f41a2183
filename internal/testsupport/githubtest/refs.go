package githubtest

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

// refs reads all refs of a bare repository from its files: no process for each
// question. Loose ones win over packed ones, as in git.
func refs(dir string) map[string]string {
	found := map[string]string{}
	if packed, err := os.Open(filepath.Join(dir, "packed-refs")); err == nil {
		for lines := bufio.NewScanner(packed); lines.Scan(); {
			if sha, name, isRef := strings.Cut(lines.Text(), " "); isRef && len(sha) >= 40 {
				found[name] = sha
			}
		}
		_ = packed.Close()
	}
	// What vanishes during the walk was deleted by a push, and is gone.
	_ = filepath.WalkDir(filepath.Join(dir, "refs"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, ".lock") {
			return ignoreMissing(err)
		}
		text, err := os.ReadFile(path)
		name, relErr := filepath.Rel(dir, path)
		if sha := strings.TrimSpace(string(text)); err == nil && relErr == nil && len(sha) >= 40 {
			found[filepath.ToSlash(name)] = sha
		}
		return nil
	})
	return found
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func branch(r *repo, name string) string { return refs(r.Dir)["refs/heads/"+name] }

// byID are the arguments of a question whose answer stays: it names objects by their ids alone.
var byID = pattern.Of(`^(-\S.*|cat-file|commit|diff|log|merge-base|merge-tree|rev-list|[0-9a-f]{40}(\.{2,3}[0-9a-f]{40})?)$`)

// ask returns what git says of a repository, or nothing where it says nothing.
func (s *Server) ask(r *repo, args ...string) string {
	if s.Git == nil || r.Dir == "" {
		return ""
	}
	question := r.Dir + "\x00" + strings.Join(args, "\x00")
	if told, ok := s.told.Load(question); ok {
		text, _ := told.(string)
		return text
	}
	text, err := s.Git(context.Background(), r.Dir, args...)
	if err != nil {
		return ""
	}
	text = strings.TrimSpace(text)
	if text != "" && !slices.ContainsFunc(args, func(arg string) bool { return !byID.MatchString(arg) }) {
		s.told.Store(question, text)
	}
	return text
}

// commitFormat asks git for the fields that commitJSON shows, in its order.
const commitFormat = "--format=%T%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%P%x00%B"

func (s *Server) commitJSON(r *repo, sha string) object {
	said := strings.SplitN(s.ask(r, "log", "-1", commitFormat, sha), "\x00", 9)
	said = append(said, make([]string, 9)...)
	base, page := s.api("/repos/"+r.name()), s.URL+"/"+r.name()+"/commit/"+sha
	parents := []object{}
	for parent := range strings.FieldsSeq(said[7]) {
		parents = append(parents, object{"sha": parent, "url": base + "/commits/" + parent, "html_url": s.URL + "/" + r.name() + "/commit/" + parent})
	}
	return object{
		"sha": sha, "node_id": nodeID("C", r.id), "url": base + "/commits/" + sha, "html_url": page,
		"comments_url": base + "/commits/" + sha + "/comments", "author": nil, "committer": nil, "parents": parents,
		"commit": object{
			"author":    object{"name": said[1], "email": said[2], "date": said[3]},
			"committer": object{"name": said[4], "email": said[5], "date": said[6]},
			"message":   strings.TrimSpace(said[8]), "tree": object{"sha": said[0], "url": base + "/git/trees/" + said[0]},
			"url": base + "/git/commits/" + sha, "comment_count": 0,
			"verification": object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil},
		},
	}
}

// resolve returns the commit that a branch, a qualified ref or a commit id means.
func resolve(r *repo, name string) string {
	all := refs(r.Dir)
	for _, candidate := range []string{"refs/heads/" + name, "refs/tags/" + name, "refs/" + name} {
		if sha := all[candidate]; sha != "" {
			return sha
		}
	}
	if len(name) == 40 && strings.Trim(name, "0123456789abcdef") == "" {
		return name
	}
	return ""
}
