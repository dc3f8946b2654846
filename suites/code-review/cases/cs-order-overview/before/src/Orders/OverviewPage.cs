using System;
using System.Collections.Generic;
using System.Globalization;

namespace Orders
{
    /// <summary>The list of open orders, for one visit.</summary>
    public sealed class OverviewPage : IDisposable
    {
        private readonly IOrderRepository orders;
        private readonly Action<IReadOnlyList<string>> show;
        private bool disposed;

        public OverviewPage(IOrderRepository orders, Action<IReadOnlyList<string>> show)
        {
            this.orders = orders;
            this.show = show;
        }

        public void Refresh()
        {
            if (disposed)
            {
                throw new ObjectDisposedException(nameof(OverviewPage));
            }
            var rows = new List<string>();
            foreach (var order in orders.Open())
            {
                rows.Add(string.Format(CultureInfo.InvariantCulture, "{0}  {1:0.00}", order.Id, order.Total));
            }
            show(rows);
        }

        public void Dispose()
        {
            disposed = true;
        }
    }
}
