using System.Collections.Generic;

namespace Orders
{
    /// <summary>Each method is one query.</summary>
    public interface IOrderRepository
    {
        IReadOnlyList<Order> Open();
    }

    /// <summary>Each method is one query.</summary>
    public interface ICustomerRepository
    {
        /// <summary>The customer, or null.</summary>
        Customer Find(int id);

        /// <summary>The customers that exist, by their number.</summary>
        IReadOnlyDictionary<int, Customer> FindAll(IEnumerable<int> ids);
    }
}
