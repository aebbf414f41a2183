package githubtest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Label is a label of a repository.
type Label struct {
	ID          int64
	Name        string
	Color       string
	Description string
}

func (r *repo) label(name string) *Label {
	for _, label := range r.labels {
		if strings.EqualFold(label.Name, name) {
			return label
		}
	}
	return nil
}

func (s *Server) newLabel(r *repo, settings Label) *Label {
	settings.ID = s.nextID()
	settings.Color = cmp.Or(settings.Color, "ededed")
	r.labels = append(r.labels, &settings)
	return &settings
}

// label puts a label on an issue; GitHub makes it on first use.
func (s *Server) label(r *repo, i *issue, name string) {
	label := r.label(name)
	if label == nil {
		label = s.newLabel(r, Label{Name: name})
	}
	if !i.labelled(label.Name) {
		i.Labels = append(i.Labels, label.Name)
	}
}

func (i *issue) labelled(name string) bool {
	return slices.ContainsFunc(i.Labels, func(has string) bool { return strings.EqualFold(has, name) })
}

// labelName reads a label that is sent as its name or as an object.
func labelName(raw json.RawMessage) string {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return name
	}
	var label struct{ Name string }
	// Anything else has no name, which callers refuse.
	_ = json.Unmarshal(raw, &label)
	return label.Name
}

func addLabels(c *call) answer {
	i := c.issueOrNil()
	if i == nil {
		return notFound()
	}
	// GitHub takes the bare array beside the documented object.
	var asked struct{ Labels []json.RawMessage }
	if json.Unmarshal(c.body, &asked.Labels) != nil {
		if wrong := c.decode(&asked); wrong != nil {
			return *wrong
		}
	}
	names := make([]string, len(asked.Labels))
	for n, raw := range asked.Labels {
		names[n] = labelName(raw)
		if names[n] == "" {
			return invalid(problem{Resource: "Label", Code: "missing_field", Field: "name"})
		}
	}
	for _, name := range names {
		c.server.label(c.repo, i, name)
	}
	i.UpdatedAt = c.server.now()
	return ok(c.server.labelsJSON(c.repo, i))
}

func removeLabel(c *call) answer {
	i := c.issueOrNil()
	if i == nil {
		return notFound()
	}
	if !i.labelled(c.params["name"]) {
		return fail(http.StatusNotFound, "Label does not exist")
	}
	i.Labels = slices.DeleteFunc(i.Labels, func(has string) bool { return strings.EqualFold(has, c.params["name"]) })
	i.UpdatedAt = c.server.now()
	return ok(c.server.labelsJSON(c.repo, i))
}

func (s *Server) labelJSON(r *repo, label *Label) object {
	return object{
		"id": label.ID, "node_id": nodeID("LA", label.ID), "name": label.Name, "color": label.Color, "default": false,
		"url": s.api("/repos/" + r.name() + "/labels/" + url.PathEscape(label.Name)), "description": orNull(label.Description),
	}
}

func (s *Server) labelsJSON(r *repo, i *issue) []object {
	labels := []object{}
	for _, name := range i.Labels {
		labels = append(labels, s.labelJSON(r, r.label(name)))
	}
	return labels
}
