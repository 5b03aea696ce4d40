import java.io.InputStream;
import java.io.PrintStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** Fetches a page N times, one after the other, to standard output: Client url|http URL N reuse|new. */
public class Client {
    public static void main(String[] arguments) throws Exception {
        URI url = URI.create(arguments[1]);
        int count = Integer.parseInt(arguments[2]);
        boolean reuses = arguments[3].equals("reuse");
        PrintStream output = System.out;
        HttpClient client = HttpClient.newHttpClient();
        for (int number = 0; number < count; number++) {
            if (arguments[0].equals("url")) {
                HttpURLConnection connection = (HttpURLConnection) url.toURL().openConnection();
                try (InputStream page = connection.getInputStream()) {
                    page.transferTo(output);
                }
            } else {
                // A client keeps its connections; a new one has none.
                HttpClient asked = reuses ? client : HttpClient.newHttpClient();
                asked.send(HttpRequest.newBuilder(url).build(), BodyHandlers.ofInputStream()).body().transferTo(output);
            }
            output.println();
        }
        output.flush();
        System.exit(0);
    }
}
