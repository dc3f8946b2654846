using System;
using System.Collections.Generic;

namespace Hooks
{
    /// <summary>Receives the provider's requests and passes them on.</summary>
    public sealed class HookEndpoint
    {
        private readonly HashSet<string> allowed;
        private readonly Action<byte[]> handle;

        public HookEndpoint(IEnumerable<string> allowed, Action<byte[]> handle)
        {
            this.allowed = new HashSet<string>(allowed);
            this.handle = handle;
        }

        /// <summary>Returns the status of the response.</summary>
        public int Receive(Hook hook)
        {
            if (!allowed.Contains(hook.RemoteAddress))
            {
                return 403;
            }
            handle(hook.Body);
            return 204;
        }
    }
}
