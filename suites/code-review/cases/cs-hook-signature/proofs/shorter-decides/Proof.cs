using System;
using System.Collections.Generic;
using System.Security.Cryptography;
using System.Text;
using Hooks;

internal static class Proof
{
    private static Hook Make(string signature)
    {
        var headers = new Dictionary<string, string> { { "X-Hook-Time", "1700000000" }, { "X-Hook-Key-Version", "1" }, { "X-Hook-Signature", signature } };
        return new Hook("10.0.0.1", headers, Encoding.ASCII.GetBytes("{}"));
    }

    private static int Main()
    {
        var key = Encoding.ASCII.GetBytes("0123456789abcdef");
        var verifier = new HookVerifier(new KeyRing(new Dictionary<string, byte[]> { { "1", key } }), () => DateTimeOffset.FromUnixTimeSeconds(1700000010));
        string right;
        using (var mac = new HMACSHA256(key))
        {
            right = BitConverter.ToString(mac.ComputeHash(Encoding.ASCII.GetBytes("1700000000.{}"))).Replace("-", "");
        }
        if (!verifier.IsAuthentic(Make(right)) || verifier.IsAuthentic(Make(new string('0', 64))))
        {
            return 5;
        }
        foreach (var signature in new[] { "", right.Substring(0, 2) })
        {
            if (verifier.IsAuthentic(Make(signature)))
            {
                Console.Error.WriteLine("accepted a signature of " + signature.Length + " digits");
                return 1;
            }
        }
        return 0;
    }
}
