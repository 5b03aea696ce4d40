// Fetches a page N times, one after the other, to standard output: client URL N reuse|new.
using System;
using System.Net.Http;
using System.Security.Cryptography.X509Certificates;

static class Client
{
    static void Main(string[] arguments)
    {
        var authority = new X509Certificate2(Environment.GetEnvironmentVariable("CA"));
        var reuses = arguments[2] == "reuse";
        var client = new HttpClient(new HttpClientHandler
        {
            // Exactly the page's certificate, and no other.
            ServerCertificateCustomValidationCallback =
                (_, certificate, __, ___) => certificate.GetCertHashString() == authority.GetCertHashString(),
        });
        client.DefaultRequestHeaders.ConnectionClose = !reuses;
        var output = Console.OpenStandardOutput();
        for (var number = 0; number < int.Parse(arguments[1]); number++)
        {
            var page = client.GetByteArrayAsync(arguments[0]).Result;
            output.Write(page, 0, page.Length);
            output.WriteByte((byte)'\n');
        }
        output.Flush();
    }
}
