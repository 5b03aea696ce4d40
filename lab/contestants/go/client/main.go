// Fetches a page N times, one after the other, to standard output: client URL N reuse|new.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
)

func main() {
	count, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	authority, err := os.ReadFile(os.Getenv("CA"))
	if err != nil {
		log.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	client := http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots},
		DisableKeepAlives: os.Args[3] == "new",
	}}
	for range count {
		response, err := client.Get(os.Args[1])
		if err != nil {
			log.Fatal(err)
		}
		if _, err := io.Copy(os.Stdout, response.Body); err != nil {
			log.Fatal(err)
		}
		response.Body.Close()
		fmt.Println()
	}
}
