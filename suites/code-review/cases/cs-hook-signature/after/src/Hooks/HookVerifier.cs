using System;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;

namespace Hooks
{
    /// <summary>Tells whether a hook comes from the provider.</summary>
    public sealed class HookVerifier
    {
        private const string SignatureHeader = "X-Hook-Signature";
        private const string TimeHeader = "X-Hook-Time";
        private const string SecretVersionHeader = "X-Hook-Key-Version";
        private static readonly TimeSpan Tolerance = TimeSpan.FromMinutes(5);

        private readonly KeyRing ring;
        private readonly Func<DateTimeOffset> clock;

        public HookVerifier(KeyRing ring, Func<DateTimeOffset> clock)
        {
            this.ring = ring;
            this.clock = clock;
        }

        public bool IsAuthentic(Hook hook)
        {
            long seconds;
            if (!long.TryParse(hook.Header(TimeHeader), NumberStyles.None, CultureInfo.InvariantCulture, out seconds))
            {
                return false;
            }
            if (Math.Abs(clock().ToUnixTimeSeconds() - seconds) > Tolerance.TotalSeconds)
            {
                return false;
            }
            byte[] key;
            byte[] given;
            if (!ring.TryGet(hook.Header(SecretVersionHeader), out key) || !TryDecode(hook.Header(SignatureHeader), out given))
            {
                return false;
            }
            return SameBytes(Sign(key, seconds, hook.Body), given);
        }

        private static byte[] Sign(byte[] key, long seconds, byte[] body)
        {
            var stamp = Encoding.ASCII.GetBytes(seconds.ToString(CultureInfo.InvariantCulture) + ".");
            var message = new byte[stamp.Length + body.Length];
            stamp.CopyTo(message, 0);
            body.CopyTo(message, stamp.Length);
            using (var mac = new HMACSHA256(key))
            {
                return mac.ComputeHash(message);
            }
        }

        private static bool SameBytes(byte[] expected, byte[] given)
        {
            var length = Math.Min(expected.Length, given.Length);
            var difference = 0;
            for (var i = 0; i < length; i++)
            {
                difference |= expected[i] ^ given[i];
            }
            return difference == 0;
        }

        private static bool TryDecode(string text, out byte[] bytes)
        {
            bytes = null;
            if (text == null || text.Length % 2 != 0)
            {
                return false;
            }
            var result = new byte[text.Length / 2];
            for (var i = 0; i < result.Length; i++)
            {
                if (!byte.TryParse(text.Substring(2 * i, 2), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out result[i]))
                {
                    return false;
                }
            }
            bytes = result;
            return true;
        }
    }
}
