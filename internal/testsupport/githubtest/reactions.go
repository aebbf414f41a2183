package githubtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// Reaction is one person's emoji, by GitHub's name for it.
type Reaction struct {
	ID        int64
	Login     string
	Content   string
	CreatedAt time.Time
}

var contents = []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

// reacted returns where the reactions are that the path speaks of, or nil.
func (c *call) reacted() *[]Reaction {
	if ofRemark(c.request.URL.Path) {
		if _, remark := c.repo.remark(c.number("comment_id")); remark != nil {
			return &remark.Reactions
		}
		return nil
	}
	if _, ofComment := c.params["comment_id"]; ofComment {
		if comment := c.repo.comments[c.number("comment_id")]; comment != nil {
			return &comment.Reactions
		}
		return nil
	}
	if i := c.issueOrNil(); i != nil {
		return &i.Reactions
	}
	return nil
}

func react(c *call) answer {
	list := c.reacted()
	if list == nil {
		return notFound()
	}
	var asked struct{ Content string }
	if wrong := c.decode(&asked); wrong != nil {
		return *wrong
	}
	if !slices.Contains(contents, asked.Content) {
		return invalid(problem{Resource: "Reaction", Code: "invalid", Field: "content", Value: asked.Content})
	}
	reaction, fresh := c.server.react(list, c.token.Login, asked.Content)
	reply := ok(c.server.reactionJSON(reaction))
	if fresh {
		reply.status = http.StatusCreated
	}
	return reply
}

// react adds a reaction, or finds the one that is there already.
func (s *Server) react(list *[]Reaction, login, content string) (reaction Reaction, fresh bool) {
	same := func(r Reaction) bool { return r.Content == content && strings.EqualFold(r.Login, login) }
	if i := slices.IndexFunc(*list, same); i >= 0 {
		return (*list)[i], false
	}
	s.user(login)
	reaction = Reaction{ID: s.nextID(), Login: login, Content: content, CreatedAt: s.now()}
	*list = append(*list, reaction)
	return reaction, true
}

func (s *Server) reactionJSON(r Reaction) object {
	return object{
		"id": r.ID, "node_id": nodeID("REA", r.ID), "user": s.userJSON(r.Login), "content": r.Content,
		"created_at": stamp(r.CreatedAt),
	}
}
