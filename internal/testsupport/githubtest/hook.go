package githubtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Delivery is one try to deliver an event to an App's webhook.
type Delivery struct {
	ID      int64 // given by the server
	GUID    string
	Event   string
	Payload []byte
	At      time.Time // now, where it is zero
	Status  int       // that the receiver answered

	Installation int64 // 0: GitHub does not tell
}

// Deliver puts a try into the log of the Apps' webhook. It sends nothing: the
// test does, or leaves it out.
func (s *Server) Deliver(d Delivery) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.ID = s.nextID()
	if d.At.IsZero() {
		d.At = s.now()
	}
	s.deliveries = append(s.deliveries, d)
	return d
}

// listDeliveries shows the newest first. Its pages are found by a cursor, which
// is here the number of those seen.
func listDeliveries(c *call) answer {
	query := c.request.URL.Query()
	size := min(positive(query.Get("per_page"), 30), 100)
	newest := slices.Clone(c.server.deliveries)
	slices.Reverse(newest)
	from := min(positive(strings.TrimPrefix(query.Get("cursor"), "v1_"), 0), len(newest))
	to := min(from+size, len(newest))
	shown := []object{}
	for _, d := range newest[from:to] {
		shown = append(shown, d.json())
	}
	reply := ok(shown)
	if to < len(newest) {
		query.Set("cursor", "v1_"+strconv.Itoa(to))
		next := url.URL{Path: c.request.URL.Path, RawQuery: query.Encode()}
		reply.header = http.Header{"Link": {"<" + c.server.URL + next.String() + `>; rel="next"`}}
	}
	return reply
}

func getDelivery(c *call) answer {
	at := slices.IndexFunc(c.server.deliveries, func(d Delivery) bool { return d.ID == c.number("delivery_id") })
	if at < 0 {
		return notFound()
	}
	d := c.server.deliveries[at]
	shown := d.json()
	shown["url"] = c.server.URL + "/webhook"
	shown["request"] = object{
		"headers": object{"X-GitHub-Delivery": d.GUID, "X-GitHub-Event": d.Event}, "payload": json.RawMessage(d.Payload),
	}
	shown["response"] = object{"headers": object{}, "payload": ""}
	return ok(shown)
}

func (d Delivery) json() object {
	var event struct{ Action string }
	// What has no action that could be read has none to show.
	_ = json.Unmarshal(d.Payload, &event)
	status := "OK"
	if d.Status/100 != 2 {
		status = "Invalid HTTP Response: " + strconv.Itoa(d.Status)
	}
	return object{
		"id": d.ID, "guid": d.GUID, "delivered_at": stamp(d.At), "redelivery": false, "duration": 0.25, "status": status,
		"status_code": d.Status, "event": d.Event, "action": orNull(event.Action), "installation_id": orNull(d.Installation), "repository_id": nil,
	}
}
