// A peer of the bench: net/http or fasthttp, and a pool of pgx.
//
// The first argument selects how rows become JSON: "structs" scans them into structs for encoding/json, "json" lets PostgreSQL make the
// JSON and sends it as it is. With "fasthttp" as the second argument, fasthttp serves instead of net/http.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/pgxpool"
	"github.com/valyala/fasthttp"
)

type item struct {
	ID         int32           `json:"id"`
	Reference  int64           `json:"reference"`
	Name       string          `json:"name"`
	Note       *string         `json:"note"`
	Price      float64         `json:"price"`
	Score      float64         `json:"score"`
	Active     bool            `json:"active"`
	Created    time.Time       `json:"created"`
	Due        *time.Time      `json:"due"`
	Attributes json.RawMessage `json:"attributes"`
}

func (row *item) targets() []interface{} {
	return []interface{}{&row.ID, &row.Reference, &row.Name, &row.Note, &row.Price, &row.Score, &row.Active, &row.Created, &row.Due,
		&row.Attributes}
}

type typedItem struct {
	ID         int32           `json:"id"`
	Small      int16           `json:"small"`
	Big        int64           `json:"big"`
	Price      float64         `json:"price"`
	Ratio      float32         `json:"ratio"`
	Score      float64         `json:"score"`
	Name       string          `json:"name"`
	Note       *string         `json:"note"`
	Active     bool            `json:"active"`
	Created    time.Time       `json:"created"`
	Local      time.Time       `json:"local"`
	Due        *time.Time      `json:"due"`
	Token      string          `json:"token"`
	Attributes json.RawMessage `json:"attributes"`
	Tags       []string        `json:"tags"`
}

func (row *typedItem) targets() []interface{} {
	return []interface{}{&row.ID, &row.Small, &row.Big, &row.Price, &row.Ratio, &row.Score, &row.Name, &row.Note, &row.Active,
		&row.Created, &row.Local, &row.Due, &row.Token, &row.Attributes, &row.Tags}
}

type server struct {
	pool *pgxpool.Pool
}

// input reads what an endpoint needs of a request, whichever server has received it.
type input struct {
	method string
	query  func(name string) string
	body   func() ([]byte, error)
}

type endpoint func(input) ([]byte, error)

// badInput is an error of the client.
type badInput string

func (message badInput) Error() string { return string(message) }

func (request input) integer(name string) (int32, error) {
	value, err := strconv.ParseInt(request.query(name), 10, 32)
	if err != nil {
		return 0, badInput(name + " must be an integer")
	}
	return int32(value), nil
}

// describe returns the status and the message of an error.
func describe(err error) (int, string) {
	var bad badInput
	if errors.As(err, &bad) {
		return http.StatusBadRequest, bad.Error()
	}
	log.Print(err)
	return http.StatusInternalServerError, "the database failed"
}

// background runs statements to their end when the client has disconnected: otherwise pgx closes the connection.
var background = context.Background()

func (s *server) scalar(sql string, args ...interface{}) ([]byte, error) {
	var result int32
	err := s.pool.QueryRow(background, sql, args...).Scan(&result)
	return strconv.AppendInt(nil, int64(result), 10), err
}

func (s *server) sum(routine string) endpoint {
	sql := "select bench." + routine + "($1, $2)"
	return func(request input) ([]byte, error) {
		a, err := request.integer("a")
		if err != nil {
			return nil, err
		}
		b, err := request.integer("b")
		if err != nil {
			return nil, err
		}
		return s.scalar(sql, a, b)
	}
}

func (s *server) visit(request input) ([]byte, error) {
	var value struct {
		ID *int32 `json:"id"`
	}
	body, err := request.body()
	if err != nil || json.Unmarshal(body, &value) != nil || value.ID == nil || request.method != http.MethodPost {
		return nil, badInput("POST a JSON object with the integer id")
	}
	return s.scalar("select bench.visit($1)", *value.ID)
}

// list is an endpoint with the parameter `lim`.
func list(read func(lim int32) ([]byte, error)) endpoint {
	return func(request input) ([]byte, error) {
		lim, err := request.integer("lim")
		if err != nil {
			return nil, err
		}
		return read(lim)
	}
}

func (s *server) jsonRows(routine string) endpoint {
	sql := "select coalesce(json_agg(t), '[]')::text from bench." + routine + "($1) t"
	return list(func(lim int32) ([]byte, error) {
		var body []byte
		err := s.pool.QueryRow(background, sql, lim).Scan(&body)
		return body, err
	})
}

// capacity bounds what a client can make the server allocate.
func capacity(lim int32) int32 {
	if lim < 0 {
		return 0
	}
	if lim > 1000 {
		return 1000
	}
	return lim
}

func (s *server) items(lim int32) ([]byte, error) {
	rows, err := s.pool.Query(background,
		"select id, reference, name, note, price::float8, score, active, created, due, attributes from bench.items($1)", lim)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	result := make([]item, 0, capacity(lim))
	for rows.Next() {
		result = append(result, item{})
		if err := rows.Scan(result[len(result)-1].targets()...); err != nil {
			return nil, err
		}
	}
	if rows.Err() != nil {
		return nil, rows.Err()
	}
	return json.Marshal(result)
}

func (s *server) typed(lim int32) ([]byte, error) {
	rows, err := s.pool.Query(background,
		"select id, small, big, price::float8, ratio, score, name, note, active, created, local, due, token::text, attributes, tags "+
			"from bench.typed($1)", lim)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	result := make([]typedItem, 0, capacity(lim))
	for rows.Next() {
		result = append(result, typedItem{})
		if err := rows.Scan(result[len(result)-1].targets()...); err != nil {
			return nil, err
		}
	}
	if rows.Err() != nil {
		return nil, rows.Err()
	}
	return json.Marshal(result)
}

func standardHandler(endpoints map[string]endpoint) http.Handler {
	mux := http.NewServeMux()
	for path, call := range endpoints {
		call := call
		mux.HandleFunc(path, func(response http.ResponseWriter, request *http.Request) {
			body, err := call(input{
				method: request.Method,
				query:  request.URL.Query().Get,
				body:   func() ([]byte, error) { return io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<20)) },
			})
			if err != nil {
				status, message := describe(err)
				http.Error(response, message, status)
				return
			}
			response.Header().Set("Content-Type", "application/json")
			response.Header().Set("Content-Length", strconv.Itoa(len(body)))
			response.Write(body)
		})
	}
	return mux
}

func fastHandler(endpoints map[string]endpoint) fasthttp.RequestHandler {
	return func(context *fasthttp.RequestCtx) {
		call, ok := endpoints[string(context.Path())]
		if !ok {
			context.Error("not found", http.StatusNotFound)
			return
		}
		body, err := call(input{
			method: string(context.Method()),
			query:  func(name string) string { return string(context.QueryArgs().Peek(name)) },
			body:   func() ([]byte, error) { return context.PostBody(), nil },
		})
		if err != nil {
			status, message := describe(err)
			context.Error(message, status)
			return
		}
		context.SetContentType("application/json")
		context.SetBody(body)
	}
}

func main() {
	config, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	size, err := strconv.Atoi(os.Getenv("POOL"))
	if err != nil {
		log.Fatal("POOL must be a number")
	}
	config.MaxConns = int32(size)
	config.AfterConnect = func(ctx context.Context, connection *pgx.Conn) error {
		_, err := connection.Exec(ctx, "set time zone 'UTC'")
		return err
	}
	pool, err := pgxpool.ConnectConfig(background, config)
	if err != nil {
		log.Fatal(err)
	}
	s := &server{pool}
	endpoints := map[string]endpoint{
		"/api/bench/add":   s.sum("add"),
		"/api/bench/plus":  s.sum("plus"),
		"/api/bench/visit": s.visit,
		"/api/bench/items": list(s.items),
		"/api/bench/typed": list(s.typed),
	}
	if len(os.Args) > 1 && os.Args[1] == "json" {
		endpoints["/api/bench/items"] = s.jsonRows("items")
		endpoints["/api/bench/typed"] = s.jsonRows("typed")
	}
	address := "127.0.0.1:" + os.Getenv("PORT")
	if len(os.Args) > 2 && os.Args[2] == "fasthttp" {
		log.Fatal(fasthttp.ListenAndServe(address, fastHandler(endpoints)))
	}
	log.Fatal(http.ListenAndServe(address, standardHandler(endpoints)))
}
