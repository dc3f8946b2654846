using System;

namespace Orders
{
    /// <summary>Announces changes. There is one for the whole process.</summary>
    public sealed class OrderHub
    {
        public event EventHandler OrderChanged;

        public void Announce()
        {
            var handlers = OrderChanged;
            if (handlers != null)
            {
                handlers(this, EventArgs.Empty);
            }
        }
    }
}
