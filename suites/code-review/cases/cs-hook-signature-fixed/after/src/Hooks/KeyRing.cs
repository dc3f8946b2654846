using System.Collections.Generic;

namespace Hooks
{
    /// <summary>The keys that we share with the provider, by their version.</summary>
    public sealed class KeyRing
    {
        private readonly IDictionary<string, byte[]> keys;

        public KeyRing(IDictionary<string, byte[]> keys)
        {
            this.keys = new Dictionary<string, byte[]>(keys);
        }

        public bool TryGet(string version, out byte[] key)
        {
            key = null;
            return version != null && keys.TryGetValue(version, out key);
        }
    }
}
