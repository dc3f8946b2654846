using System;
using System.Collections.Generic;
using System.Reflection;
using Orders;

internal static class Proof
{
    private sealed class Nothing : IOrderRepository, ICustomerRepository
    {
        public IReadOnlyList<Order> Open()
        {
            return new Order[0];
        }

        public Customer Find(int id)
        {
            return null;
        }

        public IReadOnlyDictionary<int, Customer> FindAll(IEnumerable<int> ids)
        {
            return new Dictionary<int, Customer>();
        }
    }

    private static int Main()
    {
        var hub = new OrderHub();
        for (var i = 0; i < 10; i++)
        {
            using (var page = new OverviewPage(new Nothing(), new Nothing(), hub, rows => { }))
            {
                page.Refresh();
            }
        }
        // The compiler keeps the handlers of an event in a field of the same name.
        var field = typeof(OrderHub).GetField("OrderChanged", BindingFlags.Instance | BindingFlags.NonPublic);
        var handlers = (Delegate)field.GetValue(hub);
        var count = handlers == null ? 0 : handlers.GetInvocationList().Length;
        if (count != 0)
        {
            Console.Error.WriteLine("the hub still calls " + count + " closed pages");
            return 1;
        }
        return 0;
    }
}
