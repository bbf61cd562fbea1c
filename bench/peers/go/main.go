// A peer of the bench: net/http and a pool of pgx.
//
// The first argument selects how rows become JSON: "structs" scans them into structs for encoding/json, "json" lets PostgreSQL make the
// JSON and sends it as it is.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/pgxpool"
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

func integer(query url.Values, name string) (int32, error) {
	value, err := strconv.ParseInt(query.Get(name), 10, 32)
	if err != nil {
		return 0, errors.New(name + " must be an integer")
	}
	return int32(value), nil
}

func send(response http.ResponseWriter, body []byte, err error) {
	if err != nil {
		log.Print(err)
		http.Error(response, "the database failed", http.StatusInternalServerError)
		return
	}
	response.Header().Set("Content-Type", "application/json")
	response.Header().Set("Content-Length", strconv.Itoa(len(body)))
	response.Write(body)
}

// background runs statements to their end when the client has disconnected: otherwise pgx closes the connection.
var background = context.Background()

func (s *server) scalar(sql string, args ...interface{}) ([]byte, error) {
	var result int32
	err := s.pool.QueryRow(background, sql, args...).Scan(&result)
	return strconv.AppendInt(nil, int64(result), 10), err
}

func (s *server) sum(routine string) http.HandlerFunc {
	sql := "select bench." + routine + "($1, $2)"
	return func(response http.ResponseWriter, request *http.Request) {
		query := request.URL.Query()
		a, err := integer(query, "a")
		b, err2 := integer(query, "b")
		if err != nil || err2 != nil {
			http.Error(response, "a and b must be integers", http.StatusBadRequest)
			return
		}
		body, err := s.scalar(sql, a, b)
		send(response, body, err)
	}
}

func (s *server) visit(response http.ResponseWriter, request *http.Request) {
	var input struct {
		ID *int32 `json:"id"`
	}
	body := http.MaxBytesReader(response, request.Body, 1<<20)
	if err := json.NewDecoder(body).Decode(&input); err != nil || input.ID == nil || request.Method != http.MethodPost {
		http.Error(response, "POST a JSON object with the integer id", http.StatusBadRequest)
		return
	}
	result, err := s.scalar("select bench.visit($1)", *input.ID)
	send(response, result, err)
}

// list handles a routine with the parameter `lim`.
func list(read func(lim int32) ([]byte, error)) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		lim, err := integer(request.URL.Query(), "lim")
		if err != nil {
			http.Error(response, err.Error(), http.StatusBadRequest)
			return
		}
		body, err := read(lim)
		send(response, body, err)
	}
}

func (s *server) jsonRows(routine string) http.HandlerFunc {
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
	mux := http.NewServeMux()
	mux.HandleFunc("/api/bench/add", s.sum("add"))
	mux.HandleFunc("/api/bench/plus", s.sum("plus"))
	mux.HandleFunc("/api/bench/visit", s.visit)
	if len(os.Args) > 1 && os.Args[1] == "json" {
		mux.HandleFunc("/api/bench/items", s.jsonRows("items"))
		mux.HandleFunc("/api/bench/typed", s.jsonRows("typed"))
	} else {
		mux.HandleFunc("/api/bench/items", list(s.items))
		mux.HandleFunc("/api/bench/typed", list(s.typed))
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), mux))
}
