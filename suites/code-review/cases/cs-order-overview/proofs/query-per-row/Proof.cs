using System;
using System.Collections.Generic;
using System.Linq;
using Orders;

internal static class Proof
{
    private sealed class Repository : IOrderRepository, ICustomerRepository
    {
        public int Queries;

        public IReadOnlyList<Order> Open()
        {
            Queries++;
            return Enumerable.Range(1, 200).Select(i => new Order(i, i, 10m)).ToList();
        }

        public Customer Find(int id)
        {
            Queries++;
            return new Customer(id, "c" + id);
        }

        public IReadOnlyDictionary<int, Customer> FindAll(IEnumerable<int> ids)
        {
            Queries++;
            return ids.ToDictionary(id => id, id => new Customer(id, "c" + id));
        }
    }

    private static int Main()
    {
        var repository = new Repository();
        var rows = 0;
        using (var page = new OverviewPage(repository, repository, new OrderHub(), shown => rows = shown.Count))
        {
            page.Refresh();
        }
        if (rows != 200)
        {
            return 5;
        }
        if (repository.Queries > 5)
        {
            Console.Error.WriteLine(repository.Queries + " queries for one page");
            return 1;
        }
        return 0;
    }
}
