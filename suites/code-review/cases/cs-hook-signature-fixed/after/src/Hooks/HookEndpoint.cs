using System;

namespace Hooks
{
    /// <summary>Receives the provider's requests and passes them on.</summary>
    public sealed class HookEndpoint
    {
        private readonly HookVerifier verifier;
        private readonly Action<byte[]> handle;

        public HookEndpoint(HookVerifier verifier, Action<byte[]> handle)
        {
            this.verifier = verifier;
            this.handle = handle;
        }

        /// <summary>Returns the status of the response.</summary>
        public int Receive(Hook hook)
        {
            if (!verifier.IsAuthentic(hook))
            {
                return 401;
            }
            handle(hook.Body);
            return 204;
        }
    }
}
