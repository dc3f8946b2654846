using System;

namespace Orders
{
    public sealed class Order
    {
        public Order(int id, int customerId, decimal total)
        {
            Id = id;
            CustomerId = customerId;
            Total = total;
        }

        public int Id { get; }

        public int CustomerId { get; }

        public decimal Total { get; }
    }

    public sealed class Customer
    {
        public Customer(int id, string name)
        {
            Id = id;
            Name = name;
        }

        public int Id { get; }

        public string Name { get; }
    }
}
