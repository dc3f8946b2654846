using System;
using System.Collections.Generic;
using System.Globalization;

namespace Orders
{
    /// <summary>The list of open orders, for one visit.</summary>
    public sealed class OverviewPage : IDisposable
    {
        private readonly IOrderRepository orders;
        private readonly ICustomerRepository customers;
        private readonly Action<IReadOnlyList<string>> show;
        private bool disposed;

        public OverviewPage(IOrderRepository orders, ICustomerRepository customers, OrderHub hub, Action<IReadOnlyList<string>> show)
        {
            this.orders = orders;
            this.customers = customers;
            this.show = show;
            hub.OrderChanged += OnOrderChanged;
        }

        public void Refresh()
        {
            if (disposed)
            {
                throw new ObjectDisposedException(nameof(OverviewPage));
            }
            var rows = new List<string>();
            var open = orders.Open();
            foreach (var order in open)
            {
                var customer = customers.Find(order.CustomerId);
                var name = customer == null ? "(unknown)" : customer.Name;
                rows.Add(string.Format(CultureInfo.InvariantCulture, "{0}  {1}  {2:0.00}", order.Id, name, order.Total));
            }
            show(rows);
        }

        private void OnOrderChanged(object sender, EventArgs arguments)
        {
            if (!disposed)
            {
                Refresh();
            }
        }

        public void Dispose()
        {
            disposed = true;
        }
    }
}
