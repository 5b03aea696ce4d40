import com.fasterxml.jackson.databind.ObjectMapper;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.undertow.Undertow;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.BlockingHandler;
import io.undertow.util.Headers;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/** The contestant in Java: hello, the core over MariaDB, and the file round trip. */
public class Service {
    private static final int LETTERS = 108_000;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path WORK = Path.of(System.getenv("WORK"));
    private static HikariDataSource pool;

    public static void main(String[] arguments) {
        if (System.getenv("DB_HOST") != null) {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl("jdbc:mysql://" + System.getenv("DB_HOST") + ":" + System.getenv("DB_PORT") + "/"
                    + System.getenv("DB_NAME") + "?useServerPrepStmts=true&cachePrepStmts=true&sslMode=DISABLED");
            config.setUsername(System.getenv("DB_USER"));
            config.setMaximumPoolSize(16);
            pool = new HikariDataSource(config);
        }
        BlockingHandler blocking = new BlockingHandler(Service::serve);
        Undertow.builder().addHttpListener(Integer.parseInt(System.getenv("PORT")), "127.0.0.1").setHandler(exchange -> {
            // What does not wait is answered on the thread that reads.
            if (exchange.getRequestPath().equals("/hello")) {
                exchange.getResponseSender().send("Hello, world!");
            } else {
                blocking.handleRequest(exchange);
            }
        }).build().start();
    }

    private static void serve(HttpServerExchange exchange) throws Exception {
        String[] path = exchange.getRequestPath().split("/");
        if (path[1].equals("file")) {
            exchange.getResponseSender().send(ByteBuffer.wrap(file()));
            return;
        }
        String table = name(path[1]);
        String id = path.length > 2 ? path[2] : null;
        Object answer;
        try (Connection connection = pool.getConnection()) {
            switch (exchange.getRequestMethod().toString()) {
                case "GET":
                    List<Map<String, Object>> records = id == null
                            ? query(connection, "SELECT * FROM " + table, List.of())
                            : query(connection, "SELECT * FROM " + table + " WHERE id = ?", List.of(id));
                    if (id != null && records.isEmpty()) {
                        exchange.setStatusCode(404);
                        return;
                    }
                    answer = id == null ? records : records.get(0);
                    break;
                case "POST":
                    answer = create(connection, table, members(exchange));
                    break;
                case "PUT":
                    Map<String, Object> record = members(exchange);
                    List<Object> values = new ArrayList<>(record.values());
                    values.add(id);
                    String set = String.join(" = ?, ", record.keySet()) + " = ?";
                    answer = change(connection, "UPDATE " + table + " SET " + set + " WHERE id = ?", values);
                    break;
                case "DELETE":
                    answer = change(connection, "DELETE FROM " + table + " WHERE id = ?", List.of(id));
                    break;
                default:
                    exchange.setStatusCode(405);
                    return;
            }
        }
        exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
        exchange.getResponseSender().send(ByteBuffer.wrap(JSON.writeValueAsBytes(answer)));
    }

    private static String name(String text) {
        return "`" + text.replaceAll("[^a-zA-Z0-9_]", "") + "`";
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> members(HttpServerExchange exchange) throws Exception {
        Map<String, Object> members = new LinkedHashMap<>();
        Map<String, Object> sent = JSON.readValue(exchange.getInputStream(), Map.class);
        sent.forEach((column, value) -> members.put(name(column), value));
        return members;
    }

    private static List<Map<String, Object>> query(Connection connection, String sql, List<?> values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, values);
            List<Map<String, Object>> records = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                ResultSetMetaData columns = rows.getMetaData();
                while (rows.next()) {
                    Map<String, Object> record = new LinkedHashMap<>();
                    for (int at = 1; at <= columns.getColumnCount(); at++) {
                        record.put(columns.getColumnLabel(at), rows.getObject(at));
                    }
                    records.add(record);
                }
            }
            return records;
        }
    }

    private static long create(Connection connection, String table, Map<String, Object> record) throws SQLException {
        String holes = String.join(",", Collections.nCopies(record.size(), "?"));
        String sql = "INSERT INTO " + table + " (" + String.join(",", record.keySet()) + ") VALUES (" + holes + ")";
        try (PreparedStatement statement = connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS)) {
            bind(statement, new ArrayList<>(record.values()));
            statement.executeUpdate();
            try (ResultSet keys = statement.getGeneratedKeys()) {
                return keys.next() ? keys.getLong(1) : 0;
            }
        }
    }

    private static int change(Connection connection, String sql, List<?> values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            bind(statement, values);
            return statement.executeUpdate();
        }
    }

    private static void bind(PreparedStatement statement, List<?> values) throws SQLException {
        for (int at = 0; at < values.size(); at++) {
            statement.setObject(at + 1, values.get(at));
        }
    }

    private static byte[] file() throws Exception {
        byte[] letters = new byte[LETTERS];
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (int at = 0; at < LETTERS; at++) {
            letters[at] = (byte) ('A' + random.nextInt(58));
        }
        Path path = Files.createTempFile(WORK, "java", null);
        try {
            Files.write(path, letters);
            return Files.readAllBytes(path);
        } finally {
            Files.delete(path);
        }
    }
}
