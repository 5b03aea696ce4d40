<?php
// Fetches a page N times, one after the other, to standard output: client URL N reuse|new.
[, $url, $count, $mode] = $argv;
$curl = curl_init($url);
curl_setopt_array($curl, [
    CURLOPT_CAINFO => getenv('CA'),
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_FRESH_CONNECT => $mode === 'new',
    CURLOPT_FORBID_REUSE => $mode === 'new',
]);
for ($number = 0; $number < (int) $count; $number++) {
    $page = curl_exec($curl);
    if ($page === false) {
        fwrite(STDERR, curl_error($curl));
        exit(1);
    }
    echo $page, "\n";
}
