package githubtest

import (
	"encoding/base64"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// getContents shows a file or a folder of the default branch.
func getContents(c *call) answer {
	name := c.params["path"]
	if data, err := os.ReadFile(filepath.Join(c.server.Overlay, filepath.Clean("/"+name))); c.server.Overlay != "" && err == nil {
		file := c.describe(name, strings.Repeat("0", 40), string(data))
		file["encoding"], file["content"] = "base64", base64.StdEncoding.EncodeToString(data)
		return ok(file)
	}
	sha := c.server.ask(c.repo, "rev-parse", "--verify", "--quiet", "refs/heads/"+c.repo.DefaultBranch+":"+name)
	if sha == "" {
		return notFound()
	}
	if c.server.ask(c.repo, "cat-file", "-t", sha) != "blob" {
		files := []any{}
		for entry := range strings.Lines(c.server.ask(c.repo, "ls-tree", "--format=%(objectname) %(path)", sha)) {
			id, file, _ := strings.Cut(strings.TrimSpace(entry), " ")
			_, shown := c.contents(path.Join(name, file), id)
			files = append(files, shown)
		}
		return ok(files)
	}
	text, file := c.contents(name, sha)
	file["encoding"], file["content"] = "base64", base64.StdEncoding.EncodeToString([]byte(text))
	return ok(file)
}

func (c *call) contents(name, sha string) (text string, file object) {
	text = c.server.ask(c.repo, "cat-file", "blob", sha) + "\n"
	return text, c.describe(name, sha, text)
}

func (c *call) describe(name, sha, text string) object {
	at := c.repo.DefaultBranch
	self := c.server.api("/repos/" + c.repo.name() + "/contents/" + name + "?ref=" + at)
	blob, page := c.server.api("/repos/"+c.repo.name()+"/git/blobs/"+sha), c.server.URL+"/"+c.repo.name()+"/blob/"+at+"/"+name
	return object{
		"type": "file", "size": len(text), "name": path.Base(name), "path": name, "sha": sha,
		"url": self, "git_url": blob, "html_url": page, "download_url": page + "?raw=true",
		"_links": object{"self": self, "git": blob, "html": page},
	}
}
