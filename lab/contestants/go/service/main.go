// The contestant in Go: hello, the core over MariaDB, and the file round trip.
package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"

	_ "github.com/go-sql-driver/mysql"
)

const letters = 108_000

var (
	db      *sql.DB
	strange = regexp.MustCompile(`[^a-zA-Z0-9_]`)
)

func main() {
	if host := os.Getenv("DB_HOST"); host != "" {
		source := fmt.Sprintf("%s@tcp(%s:%s)/%s?interpolateParams=true&charset=utf8mb4",
			os.Getenv("DB_USER"), host, os.Getenv("DB_PORT"), os.Getenv("DB_NAME"))
		var err error
		if db, err = sql.Open("mysql", source); err != nil {
			log.Fatal(err)
		}
		db.SetMaxOpenConns(32)
		db.SetMaxIdleConns(32)
	}
	http.HandleFunc("GET /hello", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "Hello, world!") })
	http.HandleFunc("GET /file", file)
	http.HandleFunc("GET /{table}", list)
	http.HandleFunc("POST /{table}", create)
	http.HandleFunc("GET /{table}/{id}", read)
	http.HandleFunc("PUT /{table}/{id}", update)
	http.HandleFunc("DELETE /{table}/{id}", remove)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}

func table(r *http.Request) string {
	return "`" + strange.ReplaceAllString(r.PathValue("table"), "") + "`"
}

func list(w http.ResponseWriter, r *http.Request) {
	records, err := query("SELECT * FROM " + table(r))
	answer(w, records, err)
}

func read(w http.ResponseWriter, r *http.Request) {
	records, err := query("SELECT * FROM "+table(r)+" WHERE id = ?", r.PathValue("id"))
	if err == nil && len(records) == 0 {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		answer(w, nil, err)
		return
	}
	answer(w, records[0], nil)
}

func create(w http.ResponseWriter, r *http.Request) {
	columns, values, err := members(r)
	if err != nil {
		answer(w, nil, err)
		return
	}
	holes := strings.TrimSuffix(strings.Repeat("?,", len(columns)), ",")
	result, err := db.Exec("INSERT INTO "+table(r)+" ("+strings.Join(columns, ",")+") VALUES ("+holes+")", values...)
	if err != nil {
		answer(w, nil, err)
		return
	}
	id, err := result.LastInsertId()
	answer(w, id, err)
}

func update(w http.ResponseWriter, r *http.Request) {
	columns, values, err := members(r)
	if err != nil {
		answer(w, nil, err)
		return
	}
	set := strings.Join(columns, " = ?, ") + " = ?"
	change(w, "UPDATE "+table(r)+" SET "+set+" WHERE id = ?", append(values, r.PathValue("id"))...)
}

func remove(w http.ResponseWriter, r *http.Request) {
	change(w, "DELETE FROM "+table(r)+" WHERE id = ?", r.PathValue("id"))
}

func change(w http.ResponseWriter, statement string, values ...any) {
	result, err := db.Exec(statement, values...)
	if err != nil {
		answer(w, nil, err)
		return
	}
	count, err := result.RowsAffected()
	answer(w, count, err)
}

// members gives the columns and values of the JSON object that was sent.
func members(r *http.Request) (columns []string, values []any, err error) {
	var record map[string]any
	if err = json.NewDecoder(r.Body).Decode(&record); err != nil {
		return nil, nil, err
	}
	if len(record) == 0 {
		return nil, nil, errors.New("an empty record")
	}
	for name, value := range record {
		columns = append(columns, "`"+strange.ReplaceAllString(name, "")+"`")
		values = append(values, value)
	}
	return columns, values, nil
}

func query(statement string, values ...any) ([]map[string]any, error) {
	rows, err := db.Query(statement, values...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	records := []map[string]any{}
	cells := make([]any, len(types))
	for rows.Next() {
		texts := make([]sql.NullString, len(types))
		for i := range texts {
			cells[i] = &texts[i]
		}
		if err := rows.Scan(cells...); err != nil {
			return nil, err
		}
		record := make(map[string]any, len(types))
		for i, column := range types {
			record[column.Name()] = value(texts[i], column.DatabaseTypeName())
		}
		records = append(records, record)
	}
	return records, rows.Err()
}

func value(text sql.NullString, kind string) any {
	if !text.Valid {
		return nil
	}
	if strings.HasSuffix(kind, "INT") {
		if number, err := strconv.ParseInt(text.String, 10, 64); err == nil {
			return number
		}
	}
	return text.String
}

func answer(w http.ResponseWriter, value any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value)
}

func file(w http.ResponseWriter, _ *http.Request) {
	content := make([]byte, letters)
	for i := range content {
		content[i] = byte('A' + rand.IntN(58))
	}
	read, err := roundTrip(content)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Write(read)
}

func roundTrip(content []byte) ([]byte, error) {
	file, err := os.CreateTemp(os.Getenv("WORK"), "go-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(content)
	if err := errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	return os.ReadFile(file.Name())
}
