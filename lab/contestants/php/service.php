<?php
// The contestant in PHP: hello, the core over MariaDB, and the file round trip.
const LETTERS = 108000;

$path = explode('/', trim(parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH), '/'));
match ($path[0]) {
    'hello' => print 'Hello, world!',
    'file' => print file_round_trip(),
    default => core($_SERVER['REQUEST_METHOD'], name($path[0]), $path[1] ?? null),
};

function core(string $method, string $table, ?string $id): void
{
    $host = 'mysql:host=' . getenv('DB_HOST') . ';port=' . getenv('DB_PORT') . ';dbname=' . getenv('DB_NAME') . ';charset=utf8mb4';
    $db = new PDO($host, getenv('DB_USER'), '', [
        PDO::ATTR_PERSISTENT => true,
        PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
        PDO::MYSQL_ATTR_FOUND_ROWS => true,
    ]);
    $record = json_decode(file_get_contents('php://input'), true) ?? [];
    $columns = array_map(fn ($name) => '`' . name($name) . '`', array_keys($record));
    $values = array_values($record);
    switch ($method) {
        case 'GET':
            if ($id === null) {
                answer(run($db, "SELECT * FROM `$table`")->fetchAll());
                return;
            }
            $found = run($db, "SELECT * FROM `$table` WHERE id = ?", [$id])->fetch();
            $found ? answer($found) : http_response_code(404);
            return;
        case 'POST':
            $holes = implode(',', array_fill(0, count($columns), '?'));
            run($db, "INSERT INTO `$table` (" . implode(',', $columns) . ") VALUES ($holes)", $values);
            answer((int) $db->lastInsertId());
            return;
        case 'PUT':
            $set = implode(',', array_map(fn ($column) => "$column = ?", $columns));
            answer(run($db, "UPDATE `$table` SET $set WHERE id = ?", [...$values, $id])->rowCount());
            return;
        case 'DELETE':
            answer(run($db, "DELETE FROM `$table` WHERE id = ?", [$id])->rowCount());
            return;
        default:
            http_response_code(405);
    }
}

function name(string $name): string
{
    return preg_replace('/[^a-zA-Z0-9_]/', '', $name);
}

function run(PDO $db, string $sql, array $values = []): PDOStatement
{
    $statement = $db->prepare($sql);
    $statement->execute($values);
    return $statement;
}

function answer(mixed $value): void
{
    header('Content-Type: application/json');
    echo json_encode($value, JSON_UNESCAPED_UNICODE);
}

function file_round_trip(): string
{
    $letters = '';
    for ($at = 0; $at < LETTERS; $at++) {
        $letters .= chr(mt_rand(65, 122));
    }
    $path = tempnam(getenv('WORK'), 'php');
    file_put_contents($path, $letters);
    $read = file_get_contents($path);
    unlink($path);
    return $read;
}
