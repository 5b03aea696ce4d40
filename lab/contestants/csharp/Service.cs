// The contestant in C# on Mono: hello, the core over MariaDB by ODBC, and the file round trip.
using System;
using System.Collections.Generic;
using System.Data.Odbc;
using System.IO;
using System.Linq;
using System.Net;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Web.Script.Serialization;

static class Service
{
    const int Letters = 108000;
    static readonly ThreadLocal<Random> Chance = new ThreadLocal<Random>(() => new Random(Guid.NewGuid().GetHashCode()));
    static readonly string Work = Environment.GetEnvironmentVariable("WORK");
    static readonly string Database = string.Format(
        "Driver={0};Server={1};Port={2};User={3};Database={4};Charset=utf8mb4;Option=2",
        Environment.GetEnvironmentVariable("ODBC_DRIVER") ?? "MariaDB Unicode",
        Environment.GetEnvironmentVariable("DB_HOST"), Environment.GetEnvironmentVariable("DB_PORT"),
        Environment.GetEnvironmentVariable("DB_USER"), Environment.GetEnvironmentVariable("DB_NAME"));

    // Mono's ODBC provider does not pool: a worker thread keeps its connection.
    static readonly ThreadLocal<OdbcConnection> Connection = new ThreadLocal<OdbcConnection>(() =>
    {
        var connection = new OdbcConnection(Database);
        connection.Open();
        return connection;
    });

    static void Main()
    {
        ThreadPool.SetMinThreads(16, 16);
        var listener = new HttpListener();
        listener.Prefixes.Add("http://127.0.0.1:" + Environment.GetEnvironmentVariable("PORT") + "/");
        listener.Start();
        while (true)
        {
            var context = listener.GetContext();
            ThreadPool.QueueUserWorkItem(_ => Serve(context));
        }
    }

    static void Serve(HttpListenerContext context)
    {
        string answer;
        try
        {
            answer = Route(context.Request, context.Response);
        }
        catch (Exception error)
        {
            context.Response.StatusCode = 500;
            answer = error.Message;
        }
        try
        {
            var bytes = Encoding.UTF8.GetBytes(answer);
            context.Response.ContentLength64 = bytes.Length;
            context.Response.OutputStream.Write(bytes, 0, bytes.Length);
            context.Response.Close();
        }
        catch (Exception)
        {
            // The client has left.
        }
    }

    static string Route(HttpListenerRequest request, HttpListenerResponse response)
    {
        var path = request.Url.AbsolutePath.Trim('/').Split('/');
        if (path[0] == "hello") return "Hello, world!";
        if (path[0] == "file") return FileRoundTrip();
        var table = Name(path[0]);
        var id = path.Length > 1 ? path[1] : null;
        object value;
        switch (request.HttpMethod)
        {
            case "GET":
                var records = id == null ? Query("SELECT * FROM " + table) : Query("SELECT * FROM " + table + " WHERE id = ?", id);
                if (id != null && records.Count == 0)
                {
                    response.StatusCode = 404;
                    return "";
                }
                value = id == null ? (object)records : records[0];
                break;
            case "POST":
                var record = Members(request);
                var holes = string.Join(",", record.Select(_ => "?"));
                Change("INSERT INTO " + table + " (" + string.Join(",", record.Keys) + ") VALUES (" + holes + ")", record.Values);
                value = Query("SELECT LAST_INSERT_ID() AS id")[0]["id"];
                break;
            case "PUT":
                var changed = Members(request);
                var set = string.Join(",", changed.Keys.Select(column => column + " = ?"));
                value = Change("UPDATE " + table + " SET " + set + " WHERE id = ?", changed.Values.Concat(new object[] { id }));
                break;
            case "DELETE":
                value = Change("DELETE FROM " + table + " WHERE id = ?", new object[] { id });
                break;
            default:
                response.StatusCode = 405;
                return "";
        }
        response.ContentType = "application/json";
        return new JavaScriptSerializer().Serialize(value);
    }

    static string Name(string text)
    {
        return "`" + Regex.Replace(text, "[^a-zA-Z0-9_]", "") + "`";
    }

    static Dictionary<string, object> Members(HttpListenerRequest request)
    {
        using (var reader = new StreamReader(request.InputStream, Encoding.UTF8))
        {
            var sent = new JavaScriptSerializer().Deserialize<Dictionary<string, object>>(reader.ReadToEnd());
            return sent.ToDictionary(member => Name(member.Key), member => member.Value);
        }
    }

    static List<Dictionary<string, object>> Query(string sql, params object[] values)
    {
        var records = new List<Dictionary<string, object>>();
        using (var command = Command(sql, values))
        using (var rows = command.ExecuteReader())
        {
            while (rows.Read())
            {
                var record = new Dictionary<string, object>();
                for (var at = 0; at < rows.FieldCount; at++) record[rows.GetName(at)] = rows.GetValue(at);
                records.Add(record);
            }
        }
        return records;
    }

    static int Change(string sql, IEnumerable<object> values)
    {
        using (var command = Command(sql, values)) return command.ExecuteNonQuery();
    }

    static OdbcCommand Command(string sql, IEnumerable<object> values)
    {
        var command = new OdbcCommand(sql, Connection.Value);
        foreach (var value in values) command.Parameters.AddWithValue("", value);
        return command;
    }

    static string FileRoundTrip()
    {
        var letters = new StringBuilder(Letters);
        for (var at = 0; at < Letters; at++) letters.Append((char)('A' + Chance.Value.Next(58)));
        var path = Path.Combine(Work, Guid.NewGuid().ToString());
        try
        {
            File.WriteAllText(path, letters.ToString());
            return File.ReadAllText(path);
        }
        finally
        {
            File.Delete(path);
        }
    }
}
