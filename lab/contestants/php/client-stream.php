<?php
// Fetches a page N times, one after the other, to standard output: client URL N. A stream opens a connection each time.
[, $url, $count] = $argv;
$context = stream_context_create(['ssl' => ['cafile' => getenv('CA')]]);
for ($number = 0; $number < (int) $count; $number++) {
    $page = file_get_contents($url, false, $context);
    if ($page === false) {
        exit(1);
    }
    echo $page, "\n";
}
