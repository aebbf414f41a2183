package githubtest

import (
	"encoding/base64"
	"path"
)

// getContents shows a file of the default branch.
func getContents(c *call) answer {
	name, at := c.params["path"], c.repo.DefaultBranch
	sha := c.server.ask(c.repo, "rev-parse", "--verify", "--quiet", "refs/heads/"+at+":"+name)
	if sha == "" || c.server.ask(c.repo, "cat-file", "-t", sha) != "blob" {
		return notFound()
	}
	text := c.server.ask(c.repo, "cat-file", "blob", sha) + "\n"
	self := c.server.api("/repos/" + c.repo.name() + "/contents/" + name + "?ref=" + at)
	blob, page := c.server.api("/repos/"+c.repo.name()+"/git/blobs/"+sha), c.server.URL+"/"+c.repo.name()+"/blob/"+at+"/"+name
	return ok(object{
		"type": "file", "encoding": "base64", "size": len(text), "name": path.Base(name), "path": name, "sha": sha,
		"content": base64.StdEncoding.EncodeToString([]byte(text)), "url": self, "git_url": blob, "html_url": page, "download_url": page + "?raw=true",
		"_links": object{"self": self, "git": blob, "html": page},
	})
}
