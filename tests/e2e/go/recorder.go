package main

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// exchange is what went over the wire for one request.
type exchange struct {
	method   string
	path     string
	query    url.Values
	sent     string // the content type of the request
	received string // the content type of the answer
	status   int
}

// recorder remembers every request of a client.
type recorder struct {
	mutex     sync.Mutex
	exchanges []exchange
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func (r *recorder) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil {
			r.mutex.Lock()
			defer r.mutex.Unlock()
			r.exchanges = append(r.exchanges, exchange{
				method:   request.Method,
				path:     request.URL.Path,
				query:    request.URL.Query(),
				sent:     request.Header.Get("Content-Type"),
				received: response.Header.Get("Content-Type"),
				status:   response.StatusCode,
			})
		}
		return response, err
	})
}

// below gives the requests whose path ends so.
func (r *recorder) below(suffix string) []exchange {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	var found []exchange
	for _, one := range r.exchanges {
		if strings.HasSuffix(one.path, suffix) {
			found = append(found, one)
		}
	}
	return found
}
