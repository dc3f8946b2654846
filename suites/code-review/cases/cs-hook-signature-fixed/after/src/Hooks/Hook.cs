using System;
using System.Collections.Generic;

namespace Hooks
{
    /// <summary>A request of the payment provider, as it was received.</summary>
    public sealed class Hook
    {
        private readonly IDictionary<string, string> headers;

        public Hook(string remoteAddress, IDictionary<string, string> headers, byte[] body)
        {
            RemoteAddress = remoteAddress;
            this.headers = new Dictionary<string, string>(headers, StringComparer.OrdinalIgnoreCase);
            Body = body;
        }

        public string RemoteAddress { get; }

        public byte[] Body { get; }

        /// <summary>The value of a header, or null.</summary>
        public string Header(string name)
        {
            string value;
            return headers.TryGetValue(name, out value) ? value : null;
        }
    }
}
