package github

import (
	"context"
	"fmt"
	"time"

	gh "github.com/google/go-github/v60/github"

	"github.com/ralph-loop/ralph/internal/fault"
)

// Hook is the webhook of a GitHub App, as GitHub keeps its log. It speaks as
// the App itself: it reaches no repository.
type Hook struct{ client *Client }

// OpenHook makes a Hook of the App in a. It calls nobody yet.
func OpenHook(a Access) (*Hook, error) {
	if a.App == nil {
		return nil, fault.Usage("a webhook's log is a GitHub App's", "give `app-id` and `app-private-key`", nil)
	}
	base, err := apiURL(a.BaseURL)
	if err != nil {
		return nil, err
	}
	pace := DefaultPace
	if a.Pace != nil {
		pace = *a.Pace
	}
	app, err := newApp(*a.App, base, outward(a.HTTP, pace))
	if err != nil {
		return nil, err
	}
	return &Hook{client: &Client{api: app.api, pace: pace, held: &credential{}}}, nil
}

// Logged is one try of GitHub to deliver something. Tries of the same thing
// share their GUID.
type Logged struct {
	ID     int64
	GUID   string
	Event  string
	Action string
	At     time.Time
	Status int // that was answered; 0 or 502 and the like where nobody did
}

// Taken tells whether somebody said that they had it.
func (l Logged) Taken() bool { return l.Status >= 200 && l.Status < 300 }

// maxLogPages bounds how much of the log is read at once: 100 tries a page.
const maxLogPages = 50

// Log is what GitHub tried to deliver from since on, newest first; whole is
// false where there was more than is read at once.
func (h *Hook) Log(ctx context.Context, since time.Time) (all []Logged, whole bool, err error) {
	options := &gh.ListCursorOptions{PerPage: 100}
	for range maxLogPages {
		var next string
		page, err := ask(ctx, h.client, act{what: "read the log of deliveries"}, func(ctx context.Context) ([]*gh.HookDelivery, error) {
			page, resp, err := h.client.api.Apps.ListHookDeliveries(ctx, options)
			if err == nil {
				next = resp.Cursor
			}
			return page, err
		})
		if err != nil {
			return nil, false, err
		}
		for _, d := range page {
			if d.GetDeliveredAt().Before(since) {
				return all, true, nil
			}
			all = append(all, logged(d))
		}
		if next == "" {
			return all, true, nil
		}
		options.Cursor = next
	}
	return all, false, nil
}

func logged(d *gh.HookDelivery) Logged {
	return Logged{
		ID: d.GetID(), GUID: d.GetGUID(), Event: d.GetEvent(), Action: d.GetAction(), At: d.GetDeliveredAt().Time, Status: d.GetStatusCode(),
	}
}

// Payload is what GitHub tried to deliver then.
func (h *Hook) Payload(ctx context.Context, id int64) ([]byte, error) {
	return ask(ctx, h.client, act{what: fmt.Sprintf("read delivery %d", id)}, func(ctx context.Context) ([]byte, error) {
		d, _, err := h.client.api.Apps.GetHookDelivery(ctx, id)
		if err != nil {
			return nil, err
		}
		if d.Request == nil || d.Request.RawPayload == nil {
			return nil, &Error{Kind: NotFound, Message: "the delivery has no payload any more"}
		}
		return *d.Request.RawPayload, nil
	})
}
