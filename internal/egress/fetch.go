package egress

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Fetch gets a page of an index, for an Asker.
func (r Route) Fetch(ctx context.Context, address string) ([]byte, error) {
	const most, largest = 20 * time.Second, 8 << 20
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	transport := r.Transport()
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answers %d", answer.StatusCode)
	}
	return io.ReadAll(io.LimitReader(answer.Body, largest))
}
